import { CommandFailure } from '../failure.ts';
import { jsonObjectOf } from '../../src/domain/json-object.ts';
import { itemsOf, textOrNull } from '../values.ts';

/** Longest line of the stream, in characters. */
const EVENT_LIMIT = 16 * 1024 * 1024;

/** New text of one event; empty for none. Throws CommandFailure for an error event. */
function textOfEvent(data: string): string {
  const event = jsonObjectOf(JSON.parse(data));
  if (event['error'] !== undefined) throw new CommandFailure(JSON.stringify(event['error']));
  const delta = jsonObjectOf(jsonObjectOf(itemsOf(event['choices'])[0])['delta']);
  return textOrNull(delta['content']) ?? '';
}

/** Yields texts of a streamed chat (Server-Sent Events) as they arrive. Throws CommandFailure for an error event. */
export async function* streamedTexts(response: Response): AsyncGenerator<string> {
  if (response.body === null) return;
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split(/\r?\n/);
    rest = lines.pop() ?? '';
    if (rest.length > EVENT_LIMIT) throw new CommandFailure('A line of the streamed answer is too long.');
    for (const line of lines) {
      const data = /^data: ?(.*)$/.exec(line)?.[1];
      if (data === undefined) continue;
      if (data === '[DONE]') return;
      const text = textOfEvent(data);
      if (text !== '') yield text;
    }
  }
}
