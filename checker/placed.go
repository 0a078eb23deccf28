package checker

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// moved is the line by which make and others say which directory the paths that
// follow are counted from.
var moved = regexp.MustCompile("(?m)^(?:\\S*make(?:\\[\\d+\\])?: |ninja: )?(Entering|Leaving) directory [`'\"](.+?)['\"]$")

// read reads what a configured command printed. A place in no file of the workspace
// is none: the text stays. A name is counted from the directory that the output
// says, then from where the command ran; else the one file of the workspace that it
// fits is meant.
func (p places) read(pl plan, out output, began time.Time, texts map[string]string) report {
	var rep report
	if !moved.MatchString(out.stdout) && !moved.MatchString(out.stderr) {
		rep = pl.parse(out)
		p.place(&rep, pl, []string{pl.dir}, began, texts)
		return rep
	}
	for _, stream := range []output{{stderr: out.stderr}, {stdout: out.stdout}} {
		text := stream.stderr + stream.stdout
		dirs := []string{pl.dir}
		for _, part := range parts(text) {
			if m := moved.FindStringSubmatch(part); m != nil {
				if m[1] == "Entering" {
					dirs = append(dirs, m[2])
				} else {
					dirs = dirs[:max(len(dirs)-1, 1)]
				}
				rep.add(part, nil)
				continue
			}
			of := output{code: out.code, stdout: part}
			if stream.stdout == "" {
				of = output{code: out.code, stderr: part}
			}
			one := pl.parse(of)
			if one.findings("") == 0 && one.broken != "" {
				one.add(one.broken, nil)
			}
			p.place(&one, pl, []string{dirs[len(dirs)-1], pl.dir}, began, texts)
			rep.blocks = append(rep.blocks, one.blocks...)
			rep.partial += one.partial
		}
	}
	return rep
}

// parts splits a text at the lines that name directories, which are parts, too.
func parts(text string) []string {
	var all []string
	var b strings.Builder
	flush := func() {
		if strings.TrimSpace(b.String()) != "" {
			all = append(all, b.String())
		}
		b.Reset()
	}
	for line := range lines(text) {
		if moved.MatchString(line) {
			flush()
			all = append(all, line)
			continue
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	flush()
	return all
}

// place gives each finding the file that it means, and takes the place from those
// that mean none, unless a person's own formats found it.
func (p places) place(rep *report, pl plan, dirs []string, began time.Time, texts map[string]string) {
	known := map[string]string{}
	for i, b := range rep.blocks {
		if b.finding == nil {
			continue
		}
		name := b.finding.Path
		path, is := known[name]
		if !is {
			path = p.file(name, dirs, began, texts)
			known[name] = path
		}
		if path == "" && pl.formats {
			continue
		}
		if path == "" {
			rep.blocks[i].finding = nil
			continue
		}
		b.finding.Path = path
	}
}

// file finds the file that a name means, "" when it is none.
func (p places) file(name string, dirs []string, began time.Time, texts map[string]string) string {
	for _, dir := range dirs {
		path, inside := p.resolve(dir, name)
		if _, open := texts[path]; open || isFile(path) {
			return path
		}
		if info, err := os.Stat(filepath.Dir(path)); err == nil && inside && info.ModTime().After(began) {
			return path // it may have been there when the command looked
		}
		if !inside && filepath.IsAbs(name) {
			return ""
		}
	}
	if filepath.IsAbs(name) {
		return ""
	}
	return p.only(filepath.FromSlash(name))
}

var errTwo = errors.New("two files fit")

// only finds the one file of the workspace whose path ends with a name, "" when
// there is none or more than one.
func (p places) only(name string) string {
	found := ""
	name = filepath.Clean(name)
	if strings.HasPrefix(name, "..") {
		return ""
	}
	err := walk(context.Background(), p.workspace, func(dir string) error {
		path := filepath.Join(dir, name)
		switch {
		case !isFile(path):
		case found != "":
			return errTwo
		default:
			found = path
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return found
}
