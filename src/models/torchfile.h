/* PyTorch checkpoints (.pt, .pth, .bin): a zip archive with a pickle of a state dict and the bytes of its storages.
 *
 *     struct tensor_file file;
 *     if (!torch_file_open(&file, path, sink, err)) return false;
 *     ... file.entries, file.count: as of a safetensors file ...
 *     tensor_file_close(&file);
 *
 * The pickle is read as data (models/pickle.h): nothing in it is run. The state dict may be the whole pickle or stand under "model", "state_dict",
 * "model_state_dict" or "module"; what is no tensor is left out with a note. Tensors of one storage share its bytes; those that are not contiguous
 * are copied into order. Complex tensors stand as C64: families compute such buffers anew.
 */
#ifndef MODELS_TORCHFILE_H
#define MODELS_TORCHFILE_H

#include "models/tensor_file.h"

bool torch_file_open(struct tensor_file *file, const char *path, struct sink *sink, struct err *err);

/* A name that such files have: *.pt, *.pth or *.bin. */
bool torch_file_name(const char *name);

#endif
