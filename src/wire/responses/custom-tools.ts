import { type Fields, isObject, list, object, parseJson, text } from '../json/fields.ts';

/**
 * A custom tool takes one text instead of arguments. Dialects without such tools are told of a function with a single
 * argument, and the text is taken out of the arguments again on the way back.
 */
const ARGUMENT = 'input';

/** What a custom tool takes, for a dialect that knows functions only. */
export const CUSTOM_PARAMETERS: Readonly<Record<string, unknown>> = {
  type: 'object',
  properties: { [ARGUMENT]: { type: 'string' } },
  required: [ARGUMENT],
  additionalProperties: false,
};

/** The names of the custom tools among those of a request. */
export function customToolsOf(tools: unknown): ReadonlySet<string> {
  const custom = list(tools).filter((tool) => object(tool)['type'] === 'custom');
  return new Set(custom.map((tool) => text(object(tool)['name']) ?? ''));
}

/** The text a custom tool was called with, as the arguments of a function. */
export const wrapInput = (input: string): string => JSON.stringify({ [ARGUMENT]: input });

/** The text in whole arguments; the arguments themselves where they hold none. */
export function unwrapInput(argumentsText: string): string {
  const value = parseJson(Buffer.from(argumentsText));
  return (isObject(value) ? text((value satisfies Fields)[ARGUMENT]) : null) ?? argumentsText;
}

const OPENING = /^\s*\{\s*"input"\s*:\s*"/;
/** Most characters that can stand before the text; arguments that have not opened by then are something else. */
const MOST_OPENING = 64;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };

/** Takes the text out of arguments that come in pieces, each as far as it is known. */
export function createInputUnwrapper(): { add(piece: string): string; rest(): string } {
  let held = '';
  let state: 'before' | 'inside' | 'after' | 'other' = 'before';

  function unescaped(): string {
    let out = '';
    while (held !== '') {
      const first = held.charAt(0);
      if (first === '"') {
        state = 'after';
        held = '';
        break;
      }
      if (first !== '\\') {
        const plain = /^[^"\\]+/.exec(held)?.[0] ?? first;
        out += plain;
        held = held.slice(plain.length);
        continue;
      }
      const length = held.charAt(1) === 'u' ? 6 : 2;
      if (held.length < length) break;
      const escape = held.charAt(1);
      out += escape === 'u' ? String.fromCharCode(Number.parseInt(held.slice(2, 6), 16)) : (ESCAPES[escape] ?? escape);
      held = held.slice(length);
    }
    return out;
  }

  return {
    add(piece) {
      if (state === 'after') return '';
      if (state === 'other') return piece;
      held += piece;
      if (state === 'inside') return unescaped();
      const opening = OPENING.exec(held);
      if (opening !== null) {
        state = 'inside';
        held = held.slice(opening[0].length);
        return unescaped();
      }
      if (held.length <= MOST_OPENING && /^\s*(\{|$)/.test(held)) return '';
      state = 'other';
      const all = held;
      held = '';
      return all;
    },
    /** What never opened: it was no wrapped text after all. */
    rest: () => (state === 'before' ? held : ''),
  };
}
