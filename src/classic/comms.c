/* SPDX-License-Identifier: MIT */
#include "classic/comms.h"

#include <string.h>

#include "base/container.h"

void comms_init(struct comms *comms)
{
	*comms = (struct comms){ 0 };
	slab_init(&comms->all, sizeof(struct comm));
	hash_init(&comms->by_pid);
}

void comms_release(struct comms *comms)
{
	slab_release(&comms->all);
	hash_release(&comms->by_pid);
	*comms = (struct comms){ 0 };
}

void comms_note(struct comms *comms, uint32_t pid, const uint8_t *name, size_t len)
{
	struct comm *comm;

	if (hash_find(&comms->by_pid, pid))
		return;
	comm = slab_get(&comms->all);
	*comm = (struct comm){ .pid = pid };
	if (len > COMM_BYTES - 1)
		len = COMM_BYTES - 1;
	memcpy(comm->name, name, len);
	comm->len = (uint8_t)strlen(comm->name);
	hash_add(&comms->by_pid, &comm->node, pid);
}

const struct comm *comms_look(struct comms *comms, uint32_t pid)
{
	struct hnode *node = hash_find(&comms->by_pid, pid);

	if (!node)
		return NULL;
	comms->last = container_of(node, struct comm, node);
	return comms->last;
}
