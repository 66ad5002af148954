import { expect, it } from 'vitest';
import { createDocumentCache } from '../../../src/graphql/document-cache.ts';

const documentOf = (name: string, tokens: number): string => `{ ${name} ${'a '.repeat(tokens)}}`;

it('the document cache evicts the least recently used documents above the token limit', () => {
  const cache = createDocumentCache<number>();
  // The limit of 65,536 tokens is less than the tokens of all 40 documents.
  const texts = Array.from({ length: 40 }, (_, index) => documentOf(`d${index}`, 2_000));
  for (const [index, text] of texts.entries()) {
    cache.set(text, index);
    // The first document is used in each round.
    expect(cache.get(texts[0] ?? '')).toBe(0);
  }
  const cached = texts.flatMap((text) => cache.get(text) ?? []);
  expect(cached[0]).toBe(0);
  expect(cached.at(-1)).toBe(39);
  expect(cached.length).toBeGreaterThan(20);
  expect(cached.length).toBeLessThan(35);
});

it('the document cache has fewer than 6,000 of 20,000 short documents, because each has a fixed weight, too', () => {
  const cache = createDocumentCache<number>();
  const texts = Array.from({ length: 20_000 }, (_, index) => `{a${index}}`);
  for (const [index, text] of texts.entries()) cache.set(text, index);
  expect(texts.filter((text) => cache.get(text) !== undefined).length).toBeLessThan(6_000);
});

it.each([
  ['many tokens', documentOf('a', 9_000)],
  ['many characters', `{ a(b: "${'x'.repeat(1024 * 1024 - 20)}") }`],
])('the document cache does not store the error of a document of %s', (_name, text) => {
  const cache = createDocumentCache<Error>();
  cache.set(text, new Error('Syntax error'));
  expect(cache.get(text)).toBeUndefined();
});
