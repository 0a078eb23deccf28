package proc

func isHouse() (string, bool) { return "", false }

func keepHouse(string) {}

func foreignSockets(Sandbox) []string { return nil }

func hideSelf() {}
