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

/** Call types in spend rows, by the action. An ingest also uploads and deletes files. */
export const STORE_CALL_TYPES: Readonly<Record<StoreAction | 'uploadFile' | 'deleteFile', string>> = {
  list: 'avector_store_list',
  create: 'avector_store_create',
  get: 'avector_store_retrieve',
  update: 'avector_store_update',
  delete: 'avector_store_delete',
  search: 'avector_store_search',
  listFiles: 'avector_store_file_list',
  addFile: 'avector_store_file_create',
  getFile: 'avector_store_file_retrieve',
  updateFile: 'avector_store_file_update',
  removeFile: 'avector_store_file_delete',
  readFile: 'avector_store_file_content',
  addBatch: 'avector_store_file_batch_create',
  getBatch: 'avector_store_file_batch_retrieve',
  cancelBatch: 'avector_store_file_batch_cancel',
  listBatchFiles: 'avector_store_file_batch_list',
  uploadFile: 'acreate_file',
  deleteFile: 'afile_delete',
};

/** Providers with the API of OpenAI. All except `openai` need an address in the parameters of the store. */
export const STORE_PROVIDERS: readonly string[] = ['openai', 'custom_openai', 'openai_like', 'litellm_proxy'];

/** The base address with its version: an address without a path gets `/v1`. */
export function storeBase(base: string): string {
  const trimmed = base.replace(/\/+$/, '');
  const hasPath = new URL(trimmed).pathname !== '/';
  return hasPath ? trimmed : `${trimmed}/v1`;
}
