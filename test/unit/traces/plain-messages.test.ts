import { describe, expect, it } from 'vitest';
import { PREVIEW_LENGTH } from '../../../src/domain/traces/conventions/convention.ts';
import { conversationOf, latestUserText, parseStructure } from '../../../src/domain/traces/conventions/conversation.ts';
import { latestUserTextIn } from '../../../src/domain/traces/conventions/plain-messages.ts';
import { truncateUnits } from '../../../src/domain/traces/truncate.ts';
import { seeded } from '../../support/random-export.ts';

const below = seeded(11);
const oneOf = <Item>(items: readonly [Item, ...Item[]]): Item => items[below(items.length)] ?? items[0];

const aText = (): string =>
  Array.from({ length: below(12) }, () =>
    oneOf([
      'plain words ',
      '"',
      '\\',
      '\\"',
      '\n',
      '\t',
      '"}]',
      '"},{"role":"user","content":"',
      ' ',
      '😀',
      'é',
      '\u2028',
      'x'.repeat(90),
    ]),
  ).join('');

/** Members of a message with this text, in one of the plain forms. */
const contentOf = (text: string): object =>
  oneOf<object>([
    { content: text },
    { content: [{ type: 'text', text }] },
    { parts: [{ type: 'text', content: text }] },
    { parts: [{ type: 'text', text }] },
  ]);

const aMessage = (): object => ({
  role: oneOf(['user', 'user', 'assistant', 'system', 'tool']),
  ...contentOf(aText()),
});

/** JSON in the format of Python's encoder, with a space after each comma and colon. */
const spaced = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}: ${spaced(member)}`)
    .join(', ')}}`;
};

/** Preview from the parsed messages. Null without a user text. */
function previewByParser(text: string): string | null {
  const messages = conversationOf(parseStructure(text));
  const latest = messages && latestUserText(messages);
  return latest === null ? null : truncateUnits(latest, PREVIEW_LENGTH);
}

/** Preview from the JSON text. Undefined where the text must be parsed. */
function previewByScan(text: string): string | undefined {
  const latest = latestUserTextIn(text, PREVIEW_LENGTH + 1);
  return latest === null ? undefined : truncateUnits(latest, PREVIEW_LENGTH);
}

describe('the latest text of a user, read from the JSON text of a conversation', () => {
  it('equals the latest text of the parsed messages, in every plain form', () => {
    let compared = 0;
    for (let round = 0; round < 4_000; round += 1) {
      const messages = Array.from({ length: 1 + below(4) }, aMessage);
      for (const text of [JSON.stringify(messages), spaced(messages)]) {
        const latest = previewByScan(text);
        if (latest === undefined) continue;
        compared += 1;
        expect(latest).toBe(previewByParser(text));
      }
    }
    // Conversations whose last user message has no text are left to the parser.
    expect(compared).toBeGreaterThan(3_000);
  });

  it('ends with a whole character', () => {
    const content = `${'x'.repeat(PREVIEW_LENGTH - 1)}😀 and more`;
    expect(previewByScan(JSON.stringify([{ role: 'user', content }]))).toBe('x'.repeat(PREVIEW_LENGTH - 1));
  });

  it.each([
    ['no conversation', 'say hello'],
    ['nothing', ''],
    ['invalid JSON', '[{"role":"user","content":"hello"'],
    ['text after the list', '[{"role":"user","content":"hello"}] and more'],
    ['a text that ends in an escape', '[{"role":"user","content":"hello\\"}]'],
    ['an invalid escape', '[{"role":"user","content":"he\\llo"}]'],
    ['a message of another format among them', '[{"role":"user","content":"a"},{"type":"human","content":"b"}]'],
    ['members in another order', '[{"content":"a","role":"user"}]'],
    [
      'a message with parts other than text',
      '[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image"}]}]',
    ],
    ['tool calls after a text', '[{"role":"user","content":"a","tool_calls":[]}]'],
    ['an unknown role', '[{"role":"human","content":"a"}]'],
    ['no user', '[{"role":"assistant","content":"a"}]'],
    ['a last user message without text', '[{"role":"user","content":"a"},{"role":"user","content":" \\n"}]'],
    ['an empty list', '[]'],
  ])('is left to the parser: %s', (_what, text) => {
    expect(previewByScan(text)).toBeUndefined();
  });
});
