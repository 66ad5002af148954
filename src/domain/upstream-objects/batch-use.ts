import type { Owner } from '../caller.ts';
import type { Usage } from '../chat/chat.ts';
import type { Deployment } from '../chat/provider.ts';
import type { ShownObject } from './upstream-object.ts';

/** What a batch has used, as its upstream sums it up once it has ended. */
export interface BatchUse {
  /** The upstream's name of the model; null where it names none. */
  readonly model: string | null;
  readonly usage: Usage;
  readonly endedAt: Date;
}

/** A batch that has ended: what it used, whose it is, and where it was worked off. */
export interface EndedBatch extends BatchUse {
  /** Our id of it. */
  readonly id: string;
  readonly owner: Owner;
  readonly createdAt: Date;
  readonly deployment: Deployment;
}

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? { ...value } : {});

const countOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;

/** When it ended, by how it did. */
const ENDS = ['completed_at', 'failed_at', 'expired_at', 'cancelled_at'] as const;

/** What a batch that has ended used; null where its upstream does not say. `now` is when that was seen. */
export function batchUseOf(shown: ShownObject, now: Date): BatchUse | null {
  const usage = fieldsOf(shown['usage']);
  const inputTokens = countOf(usage['input_tokens']);
  const outputTokens = countOf(usage['output_tokens']);
  if (inputTokens === null || outputTokens === null || inputTokens + outputTokens === 0) return null;
  const { model } = shown;
  const ended = ENDS.map((member) => countOf(shown[member])).find((at) => at !== null) ?? null;
  return {
    model: typeof model === 'string' && model !== '' ? model : null,
    usage: {
      inputTokens,
      outputTokens,
      cacheReadTokens: countOf(fieldsOf(usage['input_tokens_details'])['cached_tokens']) ?? 0,
      cacheWriteTokens: 0,
      reasoningTokens: countOf(fieldsOf(usage['output_tokens_details'])['reasoning_tokens']) ?? 0,
    },
    endedAt: ended === null ? now : new Date(ended * 1_000),
  };
}
