import { describe, expect, it } from 'vitest';
import { truncateUnits, truncateConversation, truncateText } from '../../../src/domain/traces/truncate.ts';

const bytes = (text: string): number => Buffer.byteLength(text);
const message = (content: string, role = 'user') => ({ role, content });

describe('a text with a limit', () => {
  it('is unchanged at the limit and truncated one byte above it', () => {
    expect(truncateText('abcd', 4)).toBe('abcd');
    expect(truncateText('abcde', 4)).toBe('abcd…[truncated 1 bytes]');
  });

  it('is counted in bytes and truncated between characters', () => {
    expect(truncateText('üü', 4)).toBe('üü');
    expect(truncateText('üüü', 5)).toBe('üü…[truncated 2 bytes]');
    expect(truncateText('a🌍b', 4)).toBe('a…[truncated 5 bytes]');
    expect(truncateText('🌍', 3)).toBe('…[truncated 4 bytes]');
  });

  it('has a preview that ends with a whole character', () => {
    expect(truncateUnits('abc', 3)).toBe('abc');
    expect(truncateUnits('abcd', 3)).toBe('abc');
    expect(truncateUnits('ab🌍', 3)).toBe('ab');
  });
});

describe('a conversation with a limit', () => {
  it('is unchanged at the limit', () => {
    const text = JSON.stringify([message('a'), message('b')]);
    expect(truncateConversation(text, bytes(text))).toBe(text);
  });

  it('keeps its first message and the newest that fit, with the number of removed ones', () => {
    const messages = Array.from({ length: 20 }, (_, index) => message(`${index}`.padEnd(50, '.')));
    const cut = truncateConversation(JSON.stringify(messages), 400);
    expect(JSON.parse(cut)).toEqual([
      messages[0],
      { role: 'system', content: '…[16 messages removed]' },
      ...messages.slice(-3),
    ]);
    expect(bytes(cut)).toBeLessThanOrEqual(400);
  });

  it('truncates the first and the last message when no other fits', () => {
    const messages = [message('a'.repeat(500), 'system'), message('b'), message('ü"'.repeat(500))];
    const cut = truncateConversation(JSON.stringify(messages), 400);
    const read: readonly { role: string; content: string }[] = JSON.parse(cut);
    expect(read.map(({ role }) => role)).toEqual(['system', 'system', 'user']);
    expect(read[0]?.content).toMatch(/^a{50,}…\[truncated \d+ bytes\]$/);
    expect(read[1]?.content).toBe('…[1 messages removed]');
    expect(read[2]?.content).toMatch(/^(ü"?)+…\[truncated \d+ bytes\]$/);
    expect(bytes(cut)).toBeLessThanOrEqual(400);
  });

  it('is valid JSON within any limit', () => {
    const messages = [{ role: 'r'.repeat(900) }, 7, null, { content: [{ deep: '"'.repeat(900) }] }];
    for (let limit = 100; limit < 2_000; limit += 37) {
      const cut = truncateConversation(JSON.stringify(messages), limit);
      expect(Array.isArray(JSON.parse(cut))).toBe(true);
      expect(bytes(cut)).toBeLessThanOrEqual(limit);
    }
  });

  it.each(['plain text that is too long', '[{"role":"user","content":"only one"}]', '{"a":"no list at all"}'])(
    'is truncated as text where it is not a conversation: %s',
    (text) => {
      expect(truncateConversation(text, 10)).toBe(truncateText(text, 10));
    },
  );
});
