#!/usr/bin/env python3
"""What a user would do without loopscope: the same looped model in plain PyTorch (Debian's python3-torch), eager, on the CPU.

  torch_looped.py train  [--d 128 --blocks 2 --loops 2 --heads 4 --ff 512 --rows 512 --steps 40 --kind none|discoloop]
  torch_looped.py sweep  MODEL_DIR ROWS.jsonl [--alphas 21 --position 1 --norm rms|match|l2|none]

MODEL_DIR holds a checkpoint of the family `looped` (config.json, model.safetensors; models/vanilla is one), ROWS.jsonl is a split of its dataset:
{"tokens":[12,1003,1010],"answer":44,"answer_position":2,"bridges":[{"position":1,"token":7}]}.
Prints one JSON line: timings, and for a sweep the accuracy at every alpha. Run it once with OMP_NUM_THREADS=1 and once with =2 (and
OPENBLAS_NUM_THREADS the same): the faster one is the peer. MALLOC_MMAP_THRESHOLD_=4294967296 MALLOC_TRIM_THRESHOLD_=8589934592 help it.
peer.sh beside this does both.
"""
import argparse, json, math, os, struct, time
import numpy as np, torch, torch.nn.functional as F


def read_safetensors(path):
    raw = open(path, 'rb').read()
    n, = struct.unpack_from('<Q', raw, 0)
    out = {}
    for name, t in json.loads(raw[8:8 + n]).items():
        if name == '__metadata__':
            continue
        a, b = t['data_offsets']
        buf = raw[8 + n + a:8 + n + b]
        if t['dtype'] == 'F32':
            x = np.frombuffer(buf, '<f4')
        elif t['dtype'] == 'F16':
            x = np.frombuffer(buf, '<f2').astype('f4')
        else:
            x = (np.frombuffer(buf, '<u2').astype('u4') << 16).view('f4')
        out[name] = torch.from_numpy(x.reshape(t['shape']).copy())
    return out


def rms(x, w, eps):
    y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    return y if w is None else y * w


def rope(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


class Looped:
    def __init__(self, config, weights):
        self.c, self.w = config, weights
        self.table = weights['model.embed_tokens.weight']
        self.head = self.table if config['tie_word_embeddings'] else weights['lm_head.weight']

    def stack(self, h):
        c, w, eps = self.c, self.w, self.c['rms_norm_eps']
        B, T, _ = h.shape
        nh, nk, hd = c['num_attention_heads'], c['num_key_value_heads'], c['head_dim']
        freq = c['rope_theta'] ** (-torch.arange(0, hd, 2).float() / hd)
        ang = torch.arange(T).float()[:, None] * freq * (c['position_embedding'] == 'rope')
        cos, sin = ang.cos(), ang.sin()
        mask = torch.full((T, T), float('-inf')).triu(1)
        for i in range(c['num_hidden_layers']):
            p = 'model.layers.%d.' % i
            n = rms(h, w[p + 'input_layernorm.weight'], eps)
            q = rope((n @ w[p + 'self_attn.q_proj.weight'].t()).view(B, T, nh, hd).transpose(1, 2), cos, sin)
            k = rope((n @ w[p + 'self_attn.k_proj.weight'].t()).view(B, T, nk, hd).transpose(1, 2), cos, sin)
            v = (n @ w[p + 'self_attn.v_proj.weight'].t()).view(B, T, nk, hd).transpose(1, 2)
            if nk != nh:
                k, v = k.repeat_interleave(nh // nk, 1), v.repeat_interleave(nh // nk, 1)
            a = ((q @ k.transpose(-1, -2)) / math.sqrt(hd) + mask).softmax(-1) @ v
            h = h + a.transpose(1, 2).reshape(B, T, nh * hd) @ w[p + 'self_attn.o_proj.weight'].t()
            n = rms(h, w[p + 'post_attention_layernorm.weight'], eps)
            m = F.silu(n @ w[p + 'mlp.gate_proj.weight'].t()) * (n @ w[p + 'mlp.up_proj.weight'].t())
            h = h + m @ w[p + 'mlp.down_proj.weight'].t()
        return rms(h, w['model.norm.weight'], eps) if c['norm_each_loop'] else h

    def decode(self, h):
        if not self.c['norm_each_loop']:
            h = rms(h, self.w['model.norm.weight'], self.c['rms_norm_eps'])
        return h @ self.head.t()

    def run(self, tokens, edit=None):
        face, h = self.c['loop_interface'], self.table[tokens]
        for k in range(1, self.c['num_loops'] + 1):
            h = self.stack(h)
            if k == self.c['num_loops']:
                return h
            if edit is not None:
                h = edit(k, h)
            if face['kind'] == 'discoloop':
                phi = (self.decode(h) / face['tau']).softmax(-1) @ self.table
                alpha = face['alpha_value']
                if face['alpha'] == 'gate':
                    alpha = torch.sigmoid(phi @ self.w['model.loop_interface.gate.weight'].t() + self.w['model.loop_interface.gate.bias'])
                h = h + alpha * rms(phi, None, self.c['rms_norm_eps'])


def new_model(a, vocab):
    c = dict(vocab_size=vocab, num_hidden_layers=a.blocks, num_loops=a.loops, num_attention_heads=a.heads, num_key_value_heads=a.heads,
             head_dim=a.d // a.heads, rms_norm_eps=1e-6, position_embedding='rope', rope_theta=10000.0, tie_word_embeddings=True, norm_each_loop=True,
             loop_interface=dict(kind=a.kind, alpha='fixed', alpha_value=1.0, tau=1.0))
    shape = {'model.embed_tokens.weight': (vocab, a.d), 'model.norm.weight': (a.d,)}
    for i in range(a.blocks):
        p = 'model.layers.%d.' % i
        shape.update({p + 'self_attn.%s_proj.weight' % s: (a.d, a.d) for s in 'qkvo'})
        shape.update({p + 'mlp.gate_proj.weight': (a.ff, a.d), p + 'mlp.up_proj.weight': (a.ff, a.d), p + 'mlp.down_proj.weight': (a.d, a.ff),
                      p + 'input_layernorm.weight': (a.d,), p + 'post_attention_layernorm.weight': (a.d,)})
    w = {n: (torch.ones(s) if len(s) == 1 else torch.randn(s) * 0.02).requires_grad_() for n, s in shape.items()}
    return Looped(c, w)


def train(a):
    torch.manual_seed(0)
    V, m = 1050, None
    m = new_model(a, V)
    opt = torch.optim.AdamW(m.w.values(), lr=1e-3, weight_decay=0.1, betas=(0.9, 0.98))
    t = []
    for step in range(a.steps + 3):
        x, y = torch.randint(V, (a.rows, 3)), torch.randint(V, (a.rows,))
        s = time.perf_counter()
        loss = F.cross_entropy(m.decode(m.run(x)[:, 2]), y)
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(m.w.values()), 1.0)
        opt.step()
        t.append(time.perf_counter() - s)
    t = sorted(t[3:])
    tokens = a.rows * 3
    flop = 6 * a.loops * tokens * a.blocks * (4 * a.d * a.d + 3 * a.d * a.ff) + 6 * a.rows * V * a.d
    if a.kind == 'discoloop':
        flop += (a.loops - 1) * 12 * tokens * V * a.d
    print(json.dumps(dict(what='train', d=a.d, blocks=a.blocks, loops=a.loops, ff=a.ff, rows=a.rows, kind=a.kind, threads=torch.get_num_threads(),
                          ms_per_step_median=1e3 * t[len(t) // 2], ms_per_step_min=1e3 * t[0], tokens_per_s=tokens / t[len(t) // 2],
                          gflops=flop / t[len(t) // 2] / 1e9)))


@torch.no_grad()
def sweep(a):
    c = json.load(open(os.path.join(a.model, 'config.json')))
    m = Looped(c, read_safetensors(os.path.join(a.model, 'model.safetensors')))
    rows = [json.loads(s) for s in open(a.rows_file)]
    x = torch.tensor([r['tokens'] for r in rows])
    y = torch.tensor([r['answer'] for r in rows])
    p = torch.tensor([r['answer_position'] for r in rows])
    eps, acc = c['rms_norm_eps'], {}
    s = time.perf_counter()
    for i in range(a.alphas):
        alpha = i / (a.alphas - 1)

        def edit(k, h):
            if k != 1:
                return h
            h = h.clone()
            v = h[:, a.position]
            e = m.table[m.decode(v).argmax(-1)]
            if a.norm == 'rms':
                e = rms(e, None, eps)
            elif a.norm == 'match':
                e = e * v.norm(dim=-1, keepdim=True) / e.norm(dim=-1, keepdim=True)
            elif a.norm == 'l2':
                e = e / e.norm(dim=-1, keepdim=True)
            h[:, a.position] = (1 - alpha) * v + alpha * e
            return h
        ok = 0
        for b in range(0, len(x), 1000):
            h = m.run(x[b:b + 1000], edit if alpha else None)
            n = torch.arange(h.shape[0])
            ok += (m.decode(h[n, p[b:b + 1000]]).argmax(-1) == y[b:b + 1000]).sum().item()
        acc['%g' % alpha] = ok / len(x)
    print(json.dumps(dict(what='sweep', rows=len(x), alphas=a.alphas, threads=torch.get_num_threads(),
                          seconds=time.perf_counter() - s, accuracy=acc)))


if __name__ == '__main__':
    ap = argparse.ArgumentParser()
    sub = ap.add_subparsers(dest='mode', required=True)
    t = sub.add_parser('train')
    for k, v in dict(d=128, blocks=2, loops=2, heads=4, ff=512, rows=512, steps=40, kind='none').items():
        t.add_argument('--' + k, type=type(v), default=v)
    s = sub.add_parser('sweep')
    s.add_argument('model')
    s.add_argument('rows_file')
    for k, v in dict(alphas=21, position=1, norm='rms').items():
        s.add_argument('--' + k, type=type(v), default=v)
    a = ap.parse_args()
    torch.set_num_threads(int(os.environ.get('OMP_NUM_THREADS', '1')))
    (train if a.mode == 'train' else sweep)(a)
