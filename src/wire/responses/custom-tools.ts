import type { JsonObject } from '../../domain/json-object.ts';
import { list, object, parseJson, text, lookupTable } from '../json/fields.ts';

/**
 * Argument with the input of a custom tool. A custom tool takes one text instead of arguments. In dialects without
 * custom tools, the tool becomes a function with this single argument. Calls of the function are converted back.
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

/** Input from complete function arguments. Arguments without input are returned unchanged. */
export function unwrapInput(argumentsText: string): string {
  const value = object(parseJson(Buffer.from(argumentsText)));
  return text(value[INPUT_ARGUMENT]) ?? argumentsText;
}

const WRAPPED_INPUT_START = /^\s*\{\s*"input"\s*:\s*"/;
/** Maximum characters before the input text. Arguments with a longer start are not wrapped input. */
const MAX_START_LENGTH = 64;
/** Characters of the escapes `\n` and `\u000a`. */
const SHORT_ESCAPE_LENGTH = 2;
const UNICODE_ESCAPE_LENGTH = 6;
/** Characters that an escape stands for, by its letter. Other characters stand for themselves. */
const ESCAPES = lookupTable<string>({ n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' });

/** Character of an escape such as `\u000a`. */
const unicodeCharacter = (escape: string): string => String.fromCharCode(Number.parseInt(escape.slice(2), 16));

/** Unwraps the input from streamed arguments. Arguments that are not wrapped input stay unchanged. */
interface InputUnwrapper {
  /** Input text that a piece completes. */
  add(piece: string): string;
  /** Buffered text at the end of arguments that are not wrapped input. */
  rest(): string;
}

export function createInputUnwrapper(): InputUnwrapper {
  let buffered = '';
  /** Position relative to the input text. `other` for arguments that are not wrapped input. */
  let state: 'before' | 'inside' | 'after' | 'other' = 'before';

  /** Takes the complete characters of the input text from the buffer. */
  function takeInput(): string {
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
      const letter = buffered.charAt(1);
      const length = letter === 'u' ? UNICODE_ESCAPE_LENGTH : SHORT_ESCAPE_LENGTH;
      if (buffered.length < length) break;
      out += letter === 'u' ? unicodeCharacter(buffered.slice(0, length)) : (ESCAPES[letter] ?? letter);
      buffered = buffered.slice(length);
    }
    return out;
  }

  return {
    add(piece) {
      if (state === 'after') return '';
      if (state === 'other') return piece;
      buffered += piece;
      if (state === 'inside') return takeInput();
      const opening = WRAPPED_INPUT_START.exec(buffered);
      if (opening !== null) {
        state = 'inside';
        buffered = buffered.slice(opening[0].length);
        return takeInput();
      }
      const mayBecomeWrapped = buffered.length <= MAX_START_LENGTH && /^\s*(\{|$)/.test(buffered);
      if (mayBecomeWrapped) return '';
      state = 'other';
      const unchanged = buffered;
      buffered = '';
      return unchanged;
    },
    rest: () => (state === 'before' ? buffered : ''),
  };
}
