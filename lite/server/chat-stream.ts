import { CommandFailure, textOf } from '../failure.ts';
import { jsonObjectOf } from '../../src/domain/json-object.ts';
import { itemsOf, textOrNull } from '../values.ts';

/** Longest event that is read, in characters. */
const EVENT_LIMIT = 16 * 1024 * 1024;

/** Texts of one event of a chat, or its error. */
function textOfEvent(data: string): string {
  const event = jsonObjectOf(JSON.parse(data));
  if (event['error'] !== undefined) throw new CommandFailure(textOf(new Error(JSON.stringify(event['error']))));
  const delta = jsonObjectOf(jsonObjectOf(itemsOf(event['choices'])[0])['delta']);
  return textOrNull(delta['content']) ?? '';
}

/** Texts of a streamed chat as they arrive (Server-Sent Events). Throws CommandFailure for an error in the stream. */
export async function* streamedTexts(response: Response): AsyncGenerator<string> {
  if (response.body === null) return;
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split(/\r?\n/);
    rest = lines.pop() ?? '';
    if (rest.length > EVENT_LIMIT) throw new CommandFailure('An event of the answer is too large.');
    for (const line of lines) {
      const data = /^data: ?(.*)$/.exec(line)?.[1];
      if (data === undefined) continue;
      if (data === '[DONE]') return;
      const text = textOfEvent(data);
      if (text !== '') yield text;
    }
  }
}
