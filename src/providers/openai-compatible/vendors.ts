import type { CompatibleVendor } from '../../domain/chat/vendors.ts';
import type { RequestBody } from '../../domain/inference/askable.ts';
import type { NativeDialect } from '../../wire/dialect.ts';
import { VOYAGE_RERANK, voyageRerankRequest } from '../../wire/voyage-rerank/native.ts';
import type { AnswerForm } from '../../wire/chat-completions/inspector.ts';
import type { RequestForm } from '../../wire/chat-completions/request.ts';

/** In what a vendor differs from OpenAI on the wire, though it speaks the same dialect. */
export interface Differences extends RequestForm, AnswerForm {
  /** False where there is no endpoint for the text that follows a text; such calls become chats. */
  readonly completions?: boolean;
  /** False where there is nothing else; chats become such calls. */
  readonly chats?: false;
  /** Whether it keeps files and works off batches, in OpenAI's form. */
  readonly keepsFiles?: true;
  /** Whether there is OpenAI's Responses API, at the vendor's own address; elsewhere a deployment says so. */
  readonly hasResponses?: true;
  /** How it reranks, where that is not as Cohere gave it. */
  readonly reranks?: {
    readonly dialect: NativeDialect;
    readonly request: (body: RequestBody, model: string) => RequestBody;
  };
  /** The model's name as the vendor wants it. */
  readonly modelName?: (configured: string) => string;
  /** Headers it knows callers by, and the options that hold them. */
  readonly headers?: Readonly<Record<string, string>>;
}

const OPENAI = {
  keepsFiles: true,
  hasResponses: true,
  headers: { 'openai-organization': 'organization' },
} as const satisfies Differences;

/** A vendor without a row differs in nothing. */
const DIFFERENCES: Readonly<Partial<Record<CompatibleVendor, Differences>>> = {
  openai: OPENAI,
  'text-completion-openai': { headers: OPENAI.headers, keepsFiles: true, chats: false },
  // Refuses `stream_options` with 422, and ends every stream with its counts.
  mistral: { streamOptions: false, completions: false },
  codestral: { streamOptions: false, completions: false },
  groq: { completions: false, keepsFiles: true },
  custom_openai: { keepsFiles: true },
  openai_like: { keepsFiles: true },
  litellm_proxy: { keepsFiles: true },
  together_ai: { keepsFiles: true },
  nebius: { keepsFiles: true },
  moonshot: { completions: false },
  zai: { completions: false },
  minimax: { completions: false },
  perplexity: { streamOptions: false, completions: false, namesPrice: true },
  // Chooses among hosts, whose prices differ: only it knows what a call cost.
  openrouter: { namesPrice: true, headers: { 'http-referer': 'site_url', 'x-title': 'app_name' } },
  voyage: { reranks: { dialect: VOYAGE_RERANK, request: voyageRerankRequest } },
  fireworks_ai: { modelName: fireworksName },
};

export const differencesOf = (vendor: CompatibleVendor): Differences => DIFFERENCES[vendor] ?? {};

/** Its models are named as resources of an account, its own where none is named. */
function fireworksName(model: string): string {
  return model.startsWith('accounts/') || model.includes('#') ? model : `accounts/fireworks/models/${model}`;
}
