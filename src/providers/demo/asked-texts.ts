import { countTokens } from './reply.ts';

/** One text of a request, with its number of tokens by the rule of the demo model. */
interface CountedText {
  readonly text: string;
  readonly tokens: number;
}

/** Texts of a prompt or an input: one or several, as strings or token arrays. A token array becomes its numbers. */
export function countedTexts(input: unknown): readonly CountedText[] {
  const several = Array.isArray(input) && !input.some((item) => typeof item === 'number');
  return (several ? (input as readonly unknown[]) : [input]).map((item) => {
    if (typeof item === 'string') return { text: item, tokens: countTokens(item) };
    if (Array.isArray(item)) return { text: item.join(' '), tokens: item.length };
    const text = JSON.stringify(item);
    return { text, tokens: countTokens(text) };
  });
}

export const tokensOf = (texts: readonly CountedText[]): number => texts.reduce((sum, { tokens }) => sum + tokens, 0);
