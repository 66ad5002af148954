/** What a call about a vector store at its provider does. */
export type StoreAction =
  | 'list'
  | 'create'
  | 'get'
  | 'update'
  | 'delete'
  | 'search'
  | 'listFiles'
  | 'addFile'
  | 'getFile'
  | 'updateFile'
  | 'removeFile'
  | 'readFile'
  | 'addBatch'
  | 'getBatch'
  | 'cancelBatch'
  | 'listBatchFiles';

/** Call types in spend rows and names of operations in spans. */
export const STORE_ACTIONS: Readonly<Record<StoreAction | 'uploadFile' | 'deleteFile', { readonly callType: string }>> =
  {
    list: { callType: 'avector_store_list' },
    create: { callType: 'avector_store_create' },
    get: { callType: 'avector_store_retrieve' },
    update: { callType: 'avector_store_update' },
    delete: { callType: 'avector_store_delete' },
    search: { callType: 'avector_store_search' },
    listFiles: { callType: 'avector_store_file_list' },
    addFile: { callType: 'avector_store_file_create' },
    getFile: { callType: 'avector_store_file_retrieve' },
    updateFile: { callType: 'avector_store_file_update' },
    removeFile: { callType: 'avector_store_file_delete' },
    readFile: { callType: 'avector_store_file_content' },
    addBatch: { callType: 'avector_store_file_batch_create' },
    getBatch: { callType: 'avector_store_file_batch_retrieve' },
    cancelBatch: { callType: 'avector_store_file_batch_cancel' },
    listBatchFiles: { callType: 'avector_store_file_batch_list' },
    uploadFile: { callType: 'acreate_file' },
    deleteFile: { callType: 'afile_delete' },
  };

/** Providers with the API of OpenAI. All except `openai` need an address in the parameters of the store. */
export const STORE_PROVIDERS: readonly string[] = ['openai', 'custom_openai', 'openai_like', 'litellm_proxy'];

/** Version in the paths of OpenAI's API. */
const VERSION_SEGMENT = /\/v\d+$/;

/** The base address with its version: an address without a path gets `/v1`. */
export function storeBase(base: string): string {
  const trimmed = base.replace(/\/+$/, '');
  return VERSION_SEGMENT.test(trimmed) || new URL(trimmed).pathname !== '/' ? trimmed : `${trimmed}/v1`;
}
