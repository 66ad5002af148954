import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import { STORE_PROVIDERS } from '../../domain/vector-stores/store-action.ts';
import type { VectorStore } from '../../domain/vector-stores/vector-store.ts';
import type { ConfigDocument } from './config-document.ts';
import type { Path } from './config-references.ts';
import { unknownMember } from './nearest-name.ts';
import { faultAt, type FaultReceivers, isKnownFault, isOff, pathOfIssue } from './section-entries.ts';

/** Section of the registered stores in the file. */
const SECTION = 'vector_store_registry';

const text = z.string().min(1);

/** One registered store of the file. */
export const vectorStoreEntry = z.looseObject({
  vector_store_name: text.nullish(),
  litellm_params: z.looseObject({
    vector_store_id: text,
    custom_llm_provider: text,
    vector_store_description: z.string().nullish(),
    vector_store_metadata: z.record(z.string(), z.unknown()).nullish(),
    litellm_credential_name: text.nullish(),
    api_base: text.nullish(),
    api_key: text.nullish(),
  }),
});

type Entry = z.infer<typeof vectorStoreEntry>;

const MEMBERS = Object.keys(vectorStoreEntry.shape);

/** Parameters that are members of a registered store. */
const OWN_PARAMS = new Set([
  'vector_store_id',
  'custom_llm_provider',
  'vector_store_description',
  'vector_store_metadata',
  'litellm_credential_name',
]);

/** The stores of the file; empty when one has a wrong value. `fault` receives each wrong value. */
export function readVectorStores(
  document: ConfigDocument,
  { fault, faultIfStrict }: FaultReceivers,
): readonly VectorStore[] {
  const at = (path: Path, message: string) => faultAt(document, [SECTION, ...path], message);
  const section = document.content[SECTION];
  const parsed = z.array(vectorStoreEntry).safeParse(isOff(section) ? [] : section);
  if (!parsed.success) {
    const found = parsed.error.issues.map((issue) => at(pathOfIssue(issue), issue.message));
    for (const one of found) if (!isKnownFault(document, one)) fault(one);
    return [];
  }
  const ids = new Set<string>();
  const declared = document.declared[SECTION];
  let isRefused = false;
  const stores = parsed.data.map((entry, index) => {
    for (const name of Object.keys(entry))
      if (!MEMBERS.includes(name)) faultIfStrict(at([index, name], unknownMember(name, MEMBERS)));
    const { vector_store_id: id, custom_llm_provider: provider } = entry.litellm_params;
    if (!STORE_PROVIDERS.includes(provider))
      faultIfStrict(
        at(
          [index, 'litellm_params', 'custom_llm_provider'],
          `is not served: supported are ${STORE_PROVIDERS.join(', ')}`,
        ),
      );
    if (ids.has(id)) {
      isRefused = true;
      fault(at([index, 'litellm_params', 'vector_store_id'], 'is the id of another vector store, too'));
    }
    ids.add(id);
    return storeOf(entry, Array.isArray(declared) ? (declared[index] as Entry) : entry);
  });
  return isRefused ? [] : stores;
}

/** A store of the file. Its params are as written: references stay unresolved, so that no list shows a variable. */
function storeOf({ vector_store_name: name, litellm_params: params }: Entry, declared: Entry): VectorStore {
  return {
    id: params.vector_store_id,
    provider: params.custom_llm_provider,
    name: name ?? null,
    description: params.vector_store_description ?? null,
    metadata: params.vector_store_metadata ?? null,
    credentialName: params.litellm_credential_name ?? null,
    params: furtherParams(isJsonObject(declared.litellm_params) ? declared.litellm_params : params),
    teamId: null,
    userId: null,
    isFromConfig: true,
    createdAt: null,
    updatedAt: null,
  };
}

/** Parameters that are no members of a registered store. */
const furtherParams = (params: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(params).filter(([name]) => !OWN_PARAMS.has(name)));
