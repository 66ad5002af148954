import type { CatalogSource } from '../src/domain/catalog/catalog.ts';
import { displayName, PROVIDER_NAMES } from '../src/domain/chat/provider.ts';
import { anyone } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { Scope } from './operation/scope.ts';

/** A model endpoint and the providers that serve it. */
export interface PublicEndpoint {
  readonly key: string;
  readonly label: string;
  readonly path: string;
  readonly providers: readonly { readonly name: string; readonly label: string }[];
}

/** Endpoints of conversations, which are translated for every provider. */
const CONVERSATIONS: readonly (readonly [key: string, label: string, path: string])[] = [
  ['chat_completions', 'Chat Completions', '/chat/completions'],
  ['messages', 'Messages', '/messages'],
  ['responses', 'Responses', '/responses'],
  ['text_completion', 'Text Completion', '/completions'],
  ['generateContent', 'Generate Content', '/generateContent'],
  ['count_tokens', 'Count Tokens', '/utils/token_counter'],
];
/** Other endpoints, with the mode that their models have in the catalog. */
const OF_MODES: readonly (readonly [key: string, label: string, path: string, mode: string])[] = [
  ['embeddings', 'Embeddings', '/embeddings', 'embedding'],
  ['image_generations', 'Image Generations', '/images/generations', 'image_generation'],
  ['audio_transcriptions', 'Audio Transcriptions', '/audio/transcriptions', 'audio_transcription'],
  ['audio_speech', 'Audio Speech', '/audio/speech', 'audio_speech'],
  ['moderations', 'Moderations', '/moderations', 'moderation'],
  ['rerank', 'Rerank', '/rerank', 'rerank'],
  ['ocr', 'OCR', '/ocr', 'ocr'],
];

const namedProviders = (names: readonly string[]): PublicEndpoint['providers'] =>
  names.map((name) => ({ name, label: displayName(name) }));

/**
 * Lists the model endpoints with their providers. Endpoints for conversations have all supported providers. Other
 * endpoints have the providers with a model of the endpoint's mode in the catalog.
 */
export const listPublicEndpoints = operation({
  name: 'listPublicEndpoints',
  access: anyone,
  run({ platform }: Scope<{ readonly catalog: CatalogSource }>, _input: undefined): readonly PublicEndpoint[] {
    const { entries } = platform.catalog.current();
    // `demo` is built in: it has no upstream.
    const providers = namedProviders(PROVIDER_NAMES.filter((name) => name !== 'demo').toSorted());
    const byMode = Map.groupBy(entries, ({ mode }) => mode);
    const serving = (mode: string): PublicEndpoint['providers'] => {
      const found = new Set((byMode.get(mode) ?? []).map(({ provider }) => provider));
      return providers.filter(({ name }) => found.has(name));
    };
    return [
      ...CONVERSATIONS.map(([key, label, path]) => ({ key, label, path, providers })),
      ...OF_MODES.map(([key, label, path, mode]) => ({ key, label, path, providers: serving(mode) })),
    ];
  },
});
