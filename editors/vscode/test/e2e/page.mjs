export async function pageTests() {}
