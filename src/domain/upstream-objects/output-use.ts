import type { JsonObject } from '../json-object.ts';
import type { ByteStream } from '../bytes.ts';
import { plausibleUsage } from '../inference/plausible-usage.ts';
import { promptTokens } from '../inference/expected-tokens.ts';
import { addUsage, countOrNull, fieldsOf, type ModelUse } from './batch-use.ts';

/** Maximum length of one line, in characters. */
const MAX_LINE_CHARACTERS = 16 * 1024 * 1024;

/**
 * Usage of a batch by model, read from its output stream. A successful line without usage, or with implausible counts,
 * is estimated from `inputTokens` and the size of its text. `inputTokens` is the mean number per call. Null when such a
 * line cannot be estimated, for example because `inputTokens` is null, and when a line is malformed or too long.
 * Rejects with the stream's error.
 */
export function outputUseOf(
  output: ByteStream,
  inputTokens: number | null = null,
): Promise<readonly ModelUse[] | null> {
  return new Promise((resolve, reject) => {
    const sums = new Map<string | null, ModelUse>();
    const decoder = new TextDecoder();
    let rest = '';

    function stopReading(): false {
      output.cancel();
      resolve(null);
      return false;
    }

    output.pipe({
      chunk(bytes) {
        const text = rest + decoder.decode(bytes, { stream: true });
        const lines = text.split('\n');
        rest = lines.pop() ?? '';
        if (rest.length > MAX_LINE_CHARACTERS) return stopReading();
        return lines.every((line) => addLine(line, sums, inputTokens)) || stopReading();
      },
      done() {
        resolve(addLine(rest + decoder.decode(), sums, inputTokens) ? [...sums.values()] : null);
      },
      fail: reject,
    });
  });
}

/** Adds the usage of one line; false when the usage is unknown. A failed call adds nothing. */
function addLine(line: string, sums: Map<string | null, ModelUse>, inputTokens: number | null): boolean {
  if (line.trim() === '') return true;
  const answer = parsed(line);
  if (answer === undefined) return false;
  const { response } = fieldsOf(answer);
  const { status_code: status, body } = fieldsOf(response);
  const isFailedCall = response === null || (typeof status === 'number' && status >= 400);
  if (isFailedCall) return true;
  const { model, usage, ...members } = fieldsOf(body);
  const used = plausibleUsage(usageOf(usage)) ?? estimateOf(members, inputTokens);
  if (used === null) return false;
  const name = typeof model === 'string' && model !== '' ? model : null;
  const sum = sums.get(name)?.usage;
  sums.set(name, { model: name, usage: sum === undefined ? used : addUsage(sum, used) });
  return true;
}

/**
 * Usage of an answer by its size; null for a body that is not an answer. The vectors of an embedding are not output
 * tokens.
 */
function estimateOf({ choices, output, data }: JsonObject, inputTokens: number | null): ModelUse['usage'] | null {
  if (inputTokens === null || ![choices, output, data].some(Array.isArray)) return null;
  const outputTokens = promptTokens(choices) + promptTokens(output);
  return { inputTokens, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Usage of one answer, in the format of chats, completions and embeddings or of responses. */
function usageOf(value: unknown): ModelUse['usage'] | null {
  const usage = fieldsOf(value);
  const inputTokens = countOrNull(usage['prompt_tokens']) ?? countOrNull(usage['input_tokens']);
  const outputTokens = countOrNull(usage['completion_tokens']) ?? countOrNull(usage['output_tokens']);
  if (inputTokens === null && outputTokens === null) return null;
  const input = fieldsOf(usage['prompt_tokens_details'] ?? usage['input_tokens_details']);
  const output = fieldsOf(usage['completion_tokens_details'] ?? usage['output_tokens_details']);
  return {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    cacheReadTokens: countOrNull(input['cached_tokens']) ?? 0,
    cacheWriteTokens: 0,
    reasoningTokens: countOrNull(output['reasoning_tokens']) ?? 0,
  };
}
