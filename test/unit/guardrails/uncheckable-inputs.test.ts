import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { streamOfBytes } from '../../../src/domain/bytes.ts';
import type { Exchange } from '../../../src/domain/chat/chat.ts';
import { Rejected } from '../../../src/domain/errors.ts';
import { checkForwardedAnswer } from '../../../src/gateway/guardrails/guarded-forward.ts';
import type { CallGuard } from '../../../src/gateway/guardrails/guarding.ts';
import { createContentFilter } from '../../../src/runtime/guardrails/content-filter.ts';
import { createService } from '../../../src/runtime/guardrails/service.ts';

const MIB = 1024 * 1024;

describe('an answer of a guardrail service', () => {
  it('is refused above 16 MiB, with the limit in the message', async () => {
    const http = {
      send: async () => ({ status: 200, headers: {}, body: streamOfBytes(new Uint8Array(16 * MIB + 1)) }),
    };
    const service = createService(http, { guardrail: 'own', timeoutSeconds: null, failsOpen: true });
    await expect(service.post('http://service.test', {}, {}, new AbortController().signal)).rejects.toThrow(
      "The guardrail 'own' failed to respond: its answer is larger than 16777216 bytes",
    );
  });
});

describe('a file of blocked words', () => {
  it('is refused by its size in bytes, not in characters', () => {
    const folder = mkdtempSync(join(tmpdir(), 'lensgate-words-'));
    try {
      const path = join(folder, 'words.yaml');
      // 3 bytes a character: fewer than 4 Mi characters, more than 4 MiB.
      writeFileSync(path, `blocked_words: [] # ${'€'.repeat(2 * MIB)}`);
      expect(() => createContentFilter({ blocked_words_file: path })).toThrow(
        'blocked_words_file: the file is too large',
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('an answer of a pass-through path that guardrails cannot read', () => {
  it.each([
    ['a compressed answer', { 'content-type': 'application/json', 'content-encoding': 'gzip' }],
    ['an answer in this character set', { 'content-type': 'text/plain; charset=utf-16' }],
  ])('is refused without a check: %s', async (what, headers) => {
    const guard = { applied: ['own'], has: () => true } as unknown as CallGuard;
    const exchange = { status: 200, headers, streaming: false } as unknown as Exchange;
    const call = { callId: 'c', traceId: 't', signal: new AbortController().signal };
    await expect(checkForwardedAnswer(guard, exchange, call)).rejects.toEqual(
      new Rejected(`The guardrails of this call cannot check ${what}`, 'own'),
    );
  });
});
