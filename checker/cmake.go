package checker

// CMake names CMake projects, whose check is their whole build: that is too dear
// to run after every edit.
const CMake = "cmake"

func cmake() ecosystem {
	return ecosystem{
		name:    CMake,
		markers: []string{"CMakeLists.txt"},
		toolchain: fixed(Toolchain{
			Manager: "cmake",
			Build:   argv("cmake --build build"),
			Test:    argv("ctest --test-dir build"),
		}),
	}
}
