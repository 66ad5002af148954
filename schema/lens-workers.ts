import { MAX_WORKER_NAME } from '../src/domain/lens/text-limits.ts';
import { listLenses, resumeAllLenses, type ResumedLenses } from '../resolvers/lens.ts';
import {
  assignAnalysisKey,
  registerLensWorker,
  type RegisteredWorker,
  revokeLensWorker,
} from '../resolvers/lens-workers.ts';
import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import type { LensWorker } from '../src/domain/lens/worker.ts';
import { builder } from './base/builder.ts';
import { localId } from './base/global-id.ts';

const WorkerType = builder.objectRef<LensWorker>('LensWorker').implement({
  description: 'A process that reviews executions.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id; `built-in` for the worker of the server.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    analysisKeyId: t.exposeID('analysisKeyId', {
      nullable: true,
      description: 'Hash of the virtual key that pays for its model calls. Null before one is assigned.',
    }),
    lastSeen: t.expose('lastSeen', {
      type: 'DateTime',
      description: 'When it last requested a run; 1970-01-01 before the first request.',
    }),
    revoked: t.exposeBoolean('revoked', { description: 'Whether its access is revoked.' }),
  }),
});

const RegisteredType = builder.objectRef<RegisteredWorker>('RegisteredLensWorker').implement({
  description: 'A new worker.',
  fields: (t) => ({
    token: t.exposeString('token', { description: 'Its token. It cannot be read again.' }),
    worker: t.expose('worker', { type: WorkerType, description: 'The worker.' }),
  }),
});

const SkippedType = builder.objectRef<ResumedLenses['skipped'][number]>('SkippedLens').implement({
  description: 'A lens that could not be resumed.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    reason: t.exposeString('reason', { description: 'Why it was not resumed.' }),
  }),
});

const ResumedType = builder.objectRef<ResumedLenses>('ResumedLenses').implement({
  description: 'Lenses whose runs repeat again, and lenses that could not be resumed.',
  fields: (t) => ({
    resumedIds: t.field({
      type: ['ID'],
      description: 'Ids of lenses whose runs repeat again.',
      resolve: ({ watching }) => [...watching],
    }),
    skipped: t.field({
      type: [SkippedType],
      description: 'Lenses that could not be resumed.',
      resolve: ({ skipped }) => [...skipped],
    }),
  }),
});

/** Cost of the list of workers. */
const WORKERS_COST = { field: 1, multiplier: 50 } as const;

builder.queryField('lensWorkers', (t) =>
  t.field({
    type: [WorkerType],
    complexity: WORKERS_COST,
    description: 'All workers, the revoked ones included. For proxy administrators with full or read-only access.',
    resolve: async (_root, _args, { scope }) => [...(await listLenses(scope, undefined)).workers],
  }),
);

const KEY = 'Hash or global id of the virtual key that pays for its model calls.';
const ID = 'Id of the worker.';

const RegisterInput = builder.inputType('RegisterLensWorkerInput', {
  description: 'A new worker.',
  fields: (t) => ({
    name: t.string({ required: true, description: `Its name, 1 to ${MAX_WORKER_NAME} characters.` }),
    analysisKeyId: t.id({ required: true, description: KEY }),
  }),
});

const AssignInput = builder.inputType('AssignLensWorkerKeyInput', {
  description: 'The key of a worker.',
  fields: (t) => ({
    id: t.id({ required: true, description: ID }),
    analysisKeyId: t.id({ required: true, description: KEY }),
  }),
});

const RevokeInput = builder.inputType('RevokeLensWorkerInput', {
  description: 'The worker to revoke.',
  fields: (t) => ({ id: t.id({ required: true, description: ID }) }),
});

const keyHashOf = (id: string): string => localId('VirtualKey', id);

builder.mutationFields((t) => ({
  registerLensWorker: t.field({
    type: RegisteredType,
    description: 'Registers a worker on another machine. For proxy administrators.',
    args: { input: t.arg({ type: RegisterInput, required: true, description: 'The worker.' }) },
    errors: {
      types: [InvalidInput],
      union: { name: 'RegisterLensWorkerResult', description: 'The worker, or why it was not registered.' },
    },
    resolve: (_root, { input: { name, analysisKeyId } }, { scope }) =>
      registerLensWorker(scope, { name, analysisKeyId: keyHashOf(analysisKeyId), managed: false }),
  }),
  assignLensWorkerKey: t.field({
    type: WorkerType,
    description: 'Sets the key that pays for a worker. For proxy administrators.',
    args: { input: t.arg({ type: AssignInput, required: true, description: 'The worker and its key.' }) },
    errors: {
      types: [InvalidInput, NotFound, Conflict],
      union: { name: 'AssignLensWorkerKeyResult', description: 'The worker, or why it was not changed.' },
    },
    resolve: (_root, { input: { id, analysisKeyId } }, { scope }) =>
      assignAnalysisKey(scope, { id, analysisKeyId: keyHashOf(analysisKeyId) }),
  }),
  revokeLensWorker: t.field({
    type: WorkerType,
    description: 'Revokes the access of a worker. For proxy administrators.',
    args: { input: t.arg({ type: RevokeInput, required: true, description: 'The worker.' }) },
    errors: {
      types: [NotFound, Conflict],
      union: { name: 'RevokeLensWorkerResult', description: 'The worker, or why it was not revoked.' },
    },
    resolve: (_root, { input: { id } }, { scope }) => revokeLensWorker(scope, { id }),
  }),
  resumeLenses: t.field({
    type: ResumedType,
    nullable: true,
    description: 'Resumes every paused lens whose model can still be used. For proxy administrators.',
    resolve: (_root, _args, { scope }) => resumeAllLenses(scope, undefined),
  }),
}));
