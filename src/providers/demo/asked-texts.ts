import { countTokens } from './reply.ts';

/** One text of those a request asks about, and how many tokens the demo model takes it for. */
interface AskedText {
  readonly text: string;
  readonly tokens: number;
}

/** The texts of a prompt or an input: one, several, or either as numbers of tokens, which are shown as they are. */
export function askedTexts(asked: unknown): readonly AskedText[] {
  const several = Array.isArray(asked) && !asked.some((item) => typeof item === 'number');
  return (several ? (asked as readonly unknown[]) : [asked]).map((item) => {
    if (typeof item === 'string') return { text: item, tokens: countTokens(item) };
    if (Array.isArray(item)) return { text: item.join(' '), tokens: item.length };
    const text = JSON.stringify(item);
    return { text, tokens: countTokens(text) };
  });
}

export const tokensOf = (texts: readonly AskedText[]): number => texts.reduce((sum, { tokens }) => sum + tokens, 0);
