import { describe, expect, it } from 'vitest';
import { parseDotprompt } from '../../../src/runtime/prompts/dotprompt.ts';

const withFrontMatter = (yaml: string): string => `---\n${yaml}\n---\nHi`;

describe('front matter of templates', () => {
  it('above 16,384 characters is refused before the YAML parser compares its keys', () => {
    const keys = Array.from({ length: 40_000 }, (_key, index) => `k${index}: 1`)
      .join('\n')
      .slice(0, 250_000);
    expect(() => parseDotprompt(withFrontMatter(keys))).toThrow(
      'The front matter of the template has more than 16384 characters.',
    );
  });

  it('has the last value of a repeated key', () => {
    expect(parseDotprompt(withFrontMatter('model: one\nmodel: two')).metadata).toEqual({ model: 'two' });
  });
});
