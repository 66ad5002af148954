import { describe, expect, it } from 'vitest';
import { Rejected } from '../../../src/domain/errors.ts';
import type { CallGuard } from '../../../src/gateway/guardrails/guarding.ts';
import { checkArguments, checkResult } from '../../../src/gateway/mcp/guarded-tool.ts';

const CALL = { callId: 'c', traceId: 't', signal: new AbortController().signal };

/** A guard that keeps the texts that it checks. */
function aGuard() {
  const checked: string[] = [];
  const guard = {
    applied: ['own'],
    has: () => true,
    checksRequest: () => true,
    checkAtOnce: () => Promise.resolve(),
    check(_mode: string, texts: readonly { readonly text: string }[]) {
      checked.push(...texts.map(({ text }) => text));
      return Promise.resolve({ texts: checked, isEdited: false });
    },
  } as unknown as CallGuard;
  return { guard, checked };
}

/** A text in this many objects. */
function nested(levels: number): unknown {
  let value: unknown = 'deep';
  for (let level = 0; level < levels; level += 1) value = { a: value };
  return value;
}

describe('guardrails of a tool', () => {
  it('check all texts of a result but those of binary content', async () => {
    const { guard, checked } = aGuard();
    await checkResult(
      guard,
      {
        content: [
          { type: 'text', text: 'text' },
          { type: 'image', data: 'base64-image' },
          { type: 'resource', resource: { blob: 'base64-blob', text: 'resource' } },
        ],
        structuredContent: { data: 'structured data', rows: [{ blob: 'structured blob' }] },
      },
      CALL,
    );
    for (const text of ['text', 'resource', 'structured data', 'structured blob']) expect(checked).toContain(text);
    expect(checked.filter((text) => text.startsWith('base64'))).toEqual([]);
  });

  it('refuse arguments and results that are nested too deeply to be checked', async () => {
    const { guard } = aGuard();
    await expect(checkArguments(guard, { a: nested(600) }, CALL)).rejects.toThrow(Rejected);
    await expect(checkResult(guard, { content: [], structuredContent: { a: nested(600) } }, CALL)).rejects.toThrow(
      Rejected,
    );
    expect(await checkArguments(guard, { a: nested(100) }, CALL)).toEqual({ a: nested(100) });
  });
});
