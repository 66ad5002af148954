import { type JsonObject, isJsonObject } from '../../domain/json-object.ts';
import { type Fields, list, object, parseJson, text, lookupTable } from '../json/fields.ts';

/**
 * Argument with the input of a custom tool. A custom tool takes one text instead of arguments. In dialects without
 * custom tools it becomes a function with this single argument. The call in the answer is converted back.
 */
const INPUT_ARGUMENT = 'input';

/** JSON Schema of a custom tool, for dialects that support only functions. */
export const CUSTOM_PARAMETERS: JsonObject = {
  type: 'object',
  properties: { [INPUT_ARGUMENT]: { type: 'string' } },
  required: [INPUT_ARGUMENT],
  additionalProperties: false,
};

/** Names of the custom tools of a request. */
export function customToolsOf(tools: unknown): ReadonlySet<string> {
  const custom = list(tools).filter((tool) => object(tool)['type'] === 'custom');
  return new Set(custom.map((tool) => text(object(tool)['name']) ?? ''));
}

/** Input of a custom tool as function arguments. */
export const wrapInput = (input: string): string => JSON.stringify({ [INPUT_ARGUMENT]: input });

/** Input from complete function arguments. The arguments themselves when they contain no input. */
export function unwrapInput(argumentsText: string): string {
  const value = parseJson(Buffer.from(argumentsText));
  return (isJsonObject(value) ? text((value satisfies Fields)[INPUT_ARGUMENT]) : null) ?? argumentsText;
}

const WRAPPED_INPUT_START = /^\s*\{\s*"input"\s*:\s*"/;
/** Maximum characters before the input text. Longer prefixes are not wrapped input. */
const MAX_START_LENGTH = 64;
const ESCAPES = lookupTable<string>({ n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' });

/**
 * Unwraps the input from streamed arguments. `add` returns the input text that a piece completes. Arguments in another
 * form stay unchanged.
 */
export function createInputUnwrapper(): { add(piece: string): string; rest(): string } {
  let buffered = '';
  let state: 'before' | 'inside' | 'after' | 'other' = 'before';

  function unescaped(): string {
    let out = '';
    while (buffered !== '') {
      const first = buffered.charAt(0);
      if (first === '"') {
        state = 'after';
        buffered = '';
        break;
      }
      if (first !== '\\') {
        const plain = /^[^"\\]+/.exec(buffered)?.[0] ?? first;
        out += plain;
        buffered = buffered.slice(plain.length);
        continue;
      }
      const length = buffered.charAt(1) === 'u' ? 6 : 2;
      if (buffered.length < length) break;
      const escape = buffered.charAt(1);
      out +=
        escape === 'u' ? String.fromCharCode(Number.parseInt(buffered.slice(2, 6), 16)) : (ESCAPES[escape] ?? escape);
      buffered = buffered.slice(length);
    }
    return out;
  }

  return {
    add(piece) {
      if (state === 'after') return '';
      if (state === 'other') return piece;
      buffered += piece;
      if (state === 'inside') return unescaped();
      const opening = WRAPPED_INPUT_START.exec(buffered);
      if (opening !== null) {
        state = 'inside';
        buffered = buffered.slice(opening[0].length);
        return unescaped();
      }
      if (buffered.length <= MAX_START_LENGTH && /^\s*(\{|$)/.test(buffered)) return '';
      state = 'other';
      const all = buffered;
      buffered = '';
      return all;
    },
    /** Buffered text of arguments that are not wrapped input. */
    rest: () => (state === 'before' ? buffered : ''),
  };
}
