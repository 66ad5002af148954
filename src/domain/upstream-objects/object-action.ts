import type { HttpMethod } from '../http.ts';
import type { ObjectKind } from './upstream-object.ts';

/** One operation on upstream objects, as data. */
export interface ObjectAction {
  /** `noun.verb`; begins the name of the span. */
  readonly name: string;
  readonly kind: ObjectKind;
  readonly method: HttpMethod;
  /** Call type in a spend row, as in the reference service. */
  readonly callType: string;
  /** Whether it creates an object. Then the caller's budget is checked first. */
  readonly createsObject: boolean;
  /** When its work is billed: `created` by the answer that creates the object, `never` without a cost. */
  readonly billed: 'never' | 'later' | 'created';
}

/** Path of each kind, here and under an upstream's base address. */
export const OBJECT_PATHS = {
  file: '/files',
  batch: '/batches',
  response: '/responses',
  video: '/videos',
  container: '/containers',
  fine_tuning_job: '/fine_tuning/jobs',
  eval: '/evals',
  eval_run: '/evals',
  skill: '/skills',
} as const;

/**
 * Whether an access window of the deployment refuses the action: new objects, and reads of responses. The results of
 * files, batches and videos can be read, and all objects can be cancelled and deleted.
 */
export const isReservable = ({ createsObject, kind, method }: ObjectAction): boolean =>
  createsObject || (kind === 'response' && method === 'GET');

const UNBILLED = { createsObject: false, billed: 'never' } as const;

export const CREATE_FILE: ObjectAction = {
  name: 'files.create',
  kind: 'file',
  method: 'POST',
  callType: 'acreate_file',
  createsObject: true,
  billed: 'never',
};
export const GET_FILE: ObjectAction = {
  name: 'files.get',
  kind: 'file',
  method: 'GET',
  callType: 'afile_retrieve',
  ...UNBILLED,
};
export const READ_FILE: ObjectAction = {
  name: 'files.content',
  kind: 'file',
  method: 'GET',
  callType: 'afile_content',
  ...UNBILLED,
};
export const DELETE_FILE: ObjectAction = {
  name: 'files.delete',
  kind: 'file',
  method: 'DELETE',
  callType: 'afile_delete',
  ...UNBILLED,
};
export const CREATE_BATCH: ObjectAction = {
  name: 'batches.create',
  kind: 'batch',
  method: 'POST',
  callType: 'acreate_batch',
  createsObject: true,
  billed: 'later',
};
export const GET_BATCH: ObjectAction = {
  name: 'batches.get',
  kind: 'batch',
  method: 'GET',
  callType: 'aretrieve_batch',
  ...UNBILLED,
};
export const CANCEL_BATCH: ObjectAction = {
  name: 'batches.cancel',
  kind: 'batch',
  method: 'POST',
  callType: 'acancel_batch',
  ...UNBILLED,
};

const OF_RESPONSE = { kind: 'response', ...UNBILLED } as const;
export const GET_RESPONSE: ObjectAction = {
  name: 'responses.get',
  method: 'GET',
  callType: 'aget_responses',
  ...OF_RESPONSE,
};
export const LIST_RESPONSE_ITEMS: ObjectAction = {
  name: 'responses.input_items',
  method: 'GET',
  callType: 'alist_input_items',
  ...OF_RESPONSE,
};
export const DELETE_RESPONSE: ObjectAction = {
  name: 'responses.delete',
  method: 'DELETE',
  callType: 'adelete_responses',
  ...OF_RESPONSE,
};
export const CANCEL_RESPONSE: ObjectAction = {
  name: 'responses.cancel',
  method: 'POST',
  callType: 'acancel_responses',
  ...OF_RESPONSE,
};

const NEW_VIDEO = { kind: 'video', method: 'POST', createsObject: true, billed: 'created' } as const;
const OF_VIDEO = { kind: 'video', ...UNBILLED } as const;
export const CREATE_VIDEO: ObjectAction = { name: 'videos.create', callType: 'acreate_video', ...NEW_VIDEO };
export const REMIX_VIDEO: ObjectAction = { name: 'videos.remix', callType: 'avideo_remix', ...NEW_VIDEO };
export const GET_VIDEO: ObjectAction = {
  name: 'videos.get',
  method: 'GET',
  callType: 'avideo_retrieve',
  ...OF_VIDEO,
};
export const READ_VIDEO: ObjectAction = {
  name: 'videos.content',
  method: 'GET',
  callType: 'avideo_content',
  ...OF_VIDEO,
};
export const DELETE_VIDEO: ObjectAction = {
  name: 'videos.delete',
  method: 'DELETE',
  callType: 'avideo_delete',
  ...OF_VIDEO,
};
