/* ELF images made by hand, around an .eh_frame. */
#ifndef TARE_TESTS_UNWIND_IMAGE_H
#define TARE_TESTS_UNWIND_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#define IMAGE_CODE 0x1000 /* where its code begins */
#define IMAGE_CODE_SIZE 0x100000
#define IMAGE_FRAMES 0x200000 /* address of the .eh_frame */

/* Without sections: the frames are found by their segment. To be freed. */
uint8_t *image_make(const uint8_t *frames, size_t frames_size, size_t *size);

struct frames {
	uint8_t bytes[2048];
	size_t size, common; /* where the last common entry is */
};
/* letters "zR": addresses are in this encoding. `program`: count bytes of instructions. */
void frames_common(struct frames *f, uint8_t version, const char *letters, uint8_t encoding,
		   const uint8_t *program, size_t count);
void frames_entry(struct frames *f, uint8_t encoding, uint64_t begin, uint64_t range,
		  const uint8_t *program, size_t count);

#endif
