import { expect, it } from 'vitest';
import { cursorOver } from '../../../src/wire/otlp/protobuf.ts';
import { readInterned } from '../../../src/wire/otlp/text-cache.ts';
import { seeded } from '../../support/random-export.ts';

/** Bytes of valid and invalid UTF-8. */
const BYTES = [0x00, 0x61, 0x62, 0x80, 0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xff];
const MAX_BYTES = 70;

it('the cache of texts reads every text unchanged, after any other texts', () => {
  const draw = seeded(38);
  for (let round = 0; round < 20_000; round += 1) {
    const length = draw(MAX_BYTES);
    const kinds = 1 + draw(BYTES.length);
    const bytes = Uint8Array.from({ length }, () => BYTES[draw(kinds)] ?? 0);
    // The text begins after the start of the buffer and stops before its end.
    const cursor = cursorOver(Buffer.concat([Buffer.from('ab'), bytes, Buffer.from('c')]));
    // The text is read twice, so that the second read may find it in the cache.
    for (const expected of [Buffer.from(bytes).toString(), Buffer.from(bytes).toString()]) {
      cursor.at = 2;
      expect(readInterned(cursor, 2 + length)).toBe(expected);
      expect(cursor.at).toBe(2 + length);
    }
  }
});

it('the cache of texts distinguishes texts that differ in one byte, at any position', () => {
  const text = 'abcdefghijklmnopqrstuvwxyz';
  const variants = Array.from(text, (_, index) => `${text.slice(0, index)}!${text.slice(index + 1)}`);
  for (const variant of [text, ...variants, text, ...variants])
    expect(readInterned(cursorOver(Buffer.from(variant)), variant.length)).toBe(variant);
});
