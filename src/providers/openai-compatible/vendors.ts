import type { CompatibleVendor } from '../../domain/chat/vendors.ts';
import type { RequestBody } from '../../domain/inference/request-validation.ts';
import type { NativeDialect } from '../../wire/dialect.ts';
import { VOYAGE_RERANK, voyageRerankRequest } from '../../wire/voyage-rerank/native.ts';
import type { AnswerForm } from '../../wire/chat-completions/inspector.ts';
import type { RequestForm } from '../../wire/chat-completions/native.ts';

/** Differences of a vendor's API from OpenAI's. */
export interface Differences extends RequestForm, AnswerForm {
  /** False when the vendor has no text completions. Such calls are translated to chats. */
  readonly completions?: boolean;
  /** False when the vendor has only text completions. Chats are translated to them. */
  readonly chats?: false;
  /** The vendor has files and batches, in OpenAI's format. */
  readonly hasFiles?: true;
  /** The vendor has the Responses API. Servers at other addresses may lack it (`Protocol.mayLackEndpoint`). */
  readonly hasResponses?: true;
  /** Rerank format. Absent for Cohere's format. */
  readonly rerank?: {
    readonly dialect: NativeDialect;
    readonly request: (body: RequestBody, model: string) => RequestBody;
  };
  /** Converts the configured model name to the vendor's name. */
  readonly modelName?: (configured: string) => string;
  /** Additional headers: the option that contains the value, by header name. */
  readonly headers?: Readonly<Record<string, string>>;
}

const OPENAI = {
  hasFiles: true,
  hasResponses: true,
  headers: { 'openai-organization': 'organization' },
} as const satisfies Differences;

/** Differences by vendor. A vendor without a row has none. */
const DIFFERENCES: Readonly<Partial<Record<CompatibleVendor, Differences>>> = {
  openai: OPENAI,
  'text-completion-openai': { headers: OPENAI.headers, hasFiles: true, chats: false },
  // Rejects `stream_options` with 422. Reports usage at the end of every stream.
  mistral: { streamOptions: false, completions: false },
  codestral: { streamOptions: false, completions: false },
  groq: { completions: false, hasFiles: true },
  custom_openai: { hasFiles: true },
  openai_like: { hasFiles: true },
  litellm_proxy: { hasFiles: true },
  together_ai: { hasFiles: true },
  nebius: { hasFiles: true },
  moonshot: { completions: false },
  zai: { completions: false },
  minimax: { completions: false },
  perplexity: { streamOptions: false, completions: false, reportsCost: true },
  // OpenRouter selects among hosts with different prices, so only the reported cost is correct.
  openrouter: { reportsCost: true, headers: { 'http-referer': 'site_url', 'x-title': 'app_name' } },
  voyage: { rerank: { dialect: VOYAGE_RERANK, request: voyageRerankRequest } },
  fireworks_ai: { modelName: fireworksName },
};

export const differencesOf = (vendor: CompatibleVendor): Differences => DIFFERENCES[vendor] ?? {};

/**
 * Resource name of a Fireworks model. A name without an account gets Fireworks' own account. A name with `#` selects a
 * dedicated deployment and stays unchanged.
 */
function fireworksName(model: string): string {
  return model.startsWith('accounts/') || model.includes('#') ? model : `accounts/fireworks/models/${model}`;
}
