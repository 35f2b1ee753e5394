#include "record/task.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

void image_release(struct image *image)
{
	free(image->tasks);
	*image = (struct image){ 0 };
}

void daemon_name(const char comm[16], char out[17])
{
	size_t length = strnlen(comm, 16), used = 0;
	for (size_t i = 0; i < length;) {
		size_t n = utf8_length(comm + i, length - i);
		if (!n || (n == 1 && !isprint((unsigned char)comm[i]))) {
			out[used++] = '?';
			i++;
			continue;
		}
		memcpy(out + used, comm + i, n);
		used += n;
		i += n;
	}
	out[used] = '\0';
	/* the part after the CPU tells which work item it last ran, and changes all the time */
	if (strncmp(out, "kworker/", 8) == 0)
		out[8 + strcspn(out + 8, ":")] = '\0';
}
