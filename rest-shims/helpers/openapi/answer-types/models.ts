import type { AnswerTypes } from './notation.ts';

/** Answers of route rows about model calls, models, credentials, files, the catalog and payments. */
export const MODELS_ANSWERS: AnswerTypes = {
  'batches.cancel': 'Batch',
  'batches.create': 'Batch',
  'batches.get': 'Batch',
  'batches.list': `
    { object: string, data: Batch[], first_id: string | null, last_id: string | null, has_more: boolean }
  `,
  'catalog.get': 'CatalogEntry',
  'catalog.list': `
    { object: string, data: CatalogEntry[], total_count: integer, has_more: boolean, page: integer,
    page_size: integer }
  `,
  'catalog.priceMap': 'Record<object>',
  'catalog.refresh': '{ message: string, status: string, models_count: integer, timestamp: string | null }',
  'catalog.schedule': `
    { scheduled: boolean, interval_hours: number | null, last_run: string | null, next_run: string | null }
  `,
  'chat.completions': {
    'application/json': 'ChatCompletion',
    'text/event-stream': 'string',
  },
  'checkout.cancelled': {
    'text/html': 'string',
  },
  'checkout.create': '{ url: string }',
  'checkout.replace': {
    'text/html': 'string',
  },
  'checkout.success': {
    'text/html': 'string',
  },
  'checkout.webhook': '{ received: boolean }',
  'codingAgents.webhook': '{ received: boolean }',
  'completions.create': {
    'application/json': 'ChatCompletion',
    'text/event-stream': 'string',
  },
  'content.generate': {
    'application/json': 'unknown',
    'text/event-stream': 'string',
  },
  'content.model': 'GeminiModel',
  'content.models': '{ models: GeminiModel[], nextPageToken?: string }',
  'credentials.create': '{ success: boolean, message: string }',
  'credentials.delete': '{ success: boolean, message: string }',
  'credentials.get': 'Credential',
  'credentials.list': '{ success: boolean, credentials: Credential[] }',
  'credentials.ofModel': 'Credential',
  'credentials.update': '{ success: boolean, message: string }',
  'decisions.create': 'object',
  'decisions.systemOne': 'object',
  'deployments.block': 'Deployment',
  'deployments.create': 'Deployment',
  'deployments.delete': '{ message: string }',
  'deployments.patch': 'Deployment',
  'deployments.unblock': 'Deployment',
  'deployments.update': 'Deployment',
  'embeddings.create': `
    { object?: string, data: unknown[], model?: string, usage?: object | null, id?: string }
  `,
  'fallbacks.delete': '{ model: string, fallback_type: string, message: string }',
  'fallbacks.get': 'Fallbacks',
  'fallbacks.set': 'Fallbacks',
  'files.content': {
    '*/*': 'unknown',
  },
  'files.create': 'File',
  'files.delete': '{ id: string, object?: string, deleted?: boolean }',
  'files.get': 'File',
  'files.list': `
    { object: string, data: File[], first_id: string | null, last_id: string | null, has_more: boolean }
  `,
  'freeTier.usage': `
    { ip_hash: string, requests_today: integer, daily_limit: integer, remaining: integer }
  `,
  'ide.chat': {
    'application/json': 'unknown',
    'text/event-stream': 'string',
  },
  'images.edit': {
    'application/json': 'Images',
    'text/event-stream': 'string',
  },
  'images.generate': {
    'application/json': 'Images',
    'text/event-stream': 'string',
  },
  'images.variation': 'Images',
  'interactions.cancel': 'Interaction',
  'interactions.create': {
    'application/json': 'Interaction',
    'text/event-stream': 'string',
  },
  'interactions.delete': 'object',
  'interactions.get': 'Interaction',
  'messages.countTokens': '{ input_tokens: integer, litellm_count_source: string }',
  'messages.create': {
    'application/json': `
      { id: string, type: string, role: string, model: string, content: object[], stop_reason?: string | null,
      usage: object }
    `,
    'text/event-stream': 'string',
  },
  'messages.model': 'AnthropicModel',
  'messages.models': `
    { data: AnthropicModel[], has_more: boolean, first_id: string | null, last_id: string | null }
  `,
  'modelAccessGroups.create': `
    { access_group: string, model_names: string[] | null, model_ids: string[] | null, models_updated: integer }
  `,
  'modelAccessGroups.delete': '{ access_group: string, models_updated: integer, message: string }',
  'modelAccessGroups.info': `
    { access_group: string, model_names: string[], deployment_count: integer, spend: number, budget: unknown }
  `,
  'modelAccessGroups.list': `
    { access_groups: { access_group: string, model_names: string[], deployment_count: integer, spend: number,
    budget: unknown }[] }
  `,
  'modelAccessGroups.update': `
    { access_group: string, model_names: string[] | null, model_ids: string[] | null, models_updated: integer }
  `,
  'models.deprecations': `
    { deprecated: { model_group: string, model: string, model_id: string, deprecation_date: string | null,
    days_until_deprecation: integer }[], imminent: unknown[], upcoming: unknown[],
    warn_within_days: integer, checked_at: string }
  `,
  'models.get': 'Model | AnthropicModel | GeminiModel',
  'models.groups': '{ data: ModelGroup[] }',
  'models.info': '{ data: Deployment[] }',
  'models.list': `
    { object: string, data: Model[] } | { data: AnthropicModel[], has_more: boolean, first_id: string | null,
    last_id: string | null } | { models: GeminiModel[], nextPageToken?: string }
  `,
  'models.page': `
    { data: Deployment[], total_count: integer, current_page: integer, total_pages: integer, size: integer }
  `,
  'moderations.create': '{ id?: string, model?: string, results: object[] }',
  'requests.countTokens': `
    { total_tokens: integer, request_model: string, model_used: string, tokenizer_type: string, count_source: string,
    original_response: unknown, error: boolean, error_message: unknown, status_code: unknown }
  `,
  'requests.supportedParams': '{ supported_openai_params: string[] }',
  'requests.transform': `
    { raw_request_api_base: string, raw_request_body: object, raw_request_headers: object }
  `,
  'ocr.create': `
    { pages: object[], model?: string, document_annotation?: string | null, usage_info?: object | null }
  `,
  'rerank.create': '{ id?: string, results: object[], meta?: object | null }',
  'responses.cancel': 'Response',
  'responses.compact': '{ id?: string, object?: string, output: unknown }',
  'responses.create': {
    'application/json': 'Response',
    'text/event-stream': 'string',
  },
  'responses.delete': '{ id: string, object: string, deleted: boolean }',
  'responses.get': 'Response',
  'responses.inputItems': `
    { object: string, data?: object[], first_id?: string | null, last_id?: string | null, has_more?: boolean }
  `,
  'responses.inputTokens': '{ object: string, input_tokens: integer, litellm_count_source: string }',
  'speech.create': {
    '*/*': 'unknown',
  },
  'transcriptions.create': {
    'application/json': '{ text: string }',
    'text/plain': 'string',
    'text/vtt': 'string',
    'text/srt': 'string',
    'application/x-subrip': 'string',
    'text/event-stream': 'string',
  },
  'translations.create': {
    'application/json': '{ text: string }',
    'text/plain': 'string',
    'text/vtt': 'string',
    'text/srt': 'string',
    'application/x-subrip': 'string',
  },
};
