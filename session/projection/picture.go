package projection

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// unusable returns why a provider would refuse an image whose bytes are all here:
// too many pixels on a side, or an end that is missing. An image whose header this
// code cannot read is allowed.
func unusable(data []byte, maxSide int) string {
	width, height, cut := dimensions(data)
	if cut {
		return "it is cut short"
	}
	if maxSide > 0 && (width > maxSide || height > maxSide) {
		return fmt.Sprintf("it is %d by %d pixels, the limit of a side is %d", width, height, maxSide)
	}
	return ""
}

// dimensions reads an image's header; zero means unknown. cut is set only for an
// image whose header could be read.
func dimensions(d []byte) (width, height int, cut bool) {
	switch {
	case len(d) >= 24 && string(d[12:16]) == "IHDR":
		width, height = int(binary.BigEndian.Uint32(d[16:])), int(binary.BigEndian.Uint32(d[20:]))
		return width, height, !bytes.Contains(d[24:], []byte("IEND"))
	case bytes.HasPrefix(d, []byte("\xff\xd8\xff")):
		return jpegSize(d)
	case len(d) >= 10 && bytes.HasPrefix(d, []byte("GIF8")):
		return int(binary.LittleEndian.Uint16(d[6:])), int(binary.LittleEndian.Uint16(d[8:])), false
	case len(d) >= 30 && string(d[:4]) == "RIFF":
		width, height = webpSize(d)
	}
	return width, height, false
}

// jpegSize reads the segments up to the frame header.
func jpegSize(d []byte) (width, height int, cut bool) {
	at := 2
	for at+9 <= len(d) && d[at] == 0xff {
		marker := d[at+1]
		if marker == 0xff { // fill byte
			at++
			continue
		}
		length := int(binary.BigEndian.Uint16(d[at+2:]))
		if length < 2 {
			return 0, 0, false
		}
		frame := marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc
		if frame {
			height, width = int(binary.BigEndian.Uint16(d[at+5:])), int(binary.BigEndian.Uint16(d[at+7:]))
			return width, height, !bytes.Contains(d[at:], []byte{0xff, 0xd9})
		}
		at += 2 + length
	}
	return 0, 0, false
}

func webpSize(d []byte) (width, height int) {
	switch string(d[12:16]) {
	case "VP8X":
		return 1 + int(uint24(d[24:])), 1 + int(uint24(d[27:]))
	case "VP8L":
		bits := binary.LittleEndian.Uint32(d[21:])
		return 1 + int(bits&0x3fff), 1 + int(bits>>14&0x3fff)
	case "VP8 ":
		return int(binary.LittleEndian.Uint16(d[26:]) & 0x3fff), int(binary.LittleEndian.Uint16(d[28:]) & 0x3fff)
	}
	return 0, 0
}

func uint24(d []byte) uint32 { return uint32(d[0]) | uint32(d[1])<<8 | uint32(d[2])<<16 }
