import {
  type ChosenFallback,
  deleteFallback,
  type FallbackView,
  listFallbacks,
  setFallback,
} from '../resolvers/fallbacks.ts';
import { FALLBACK_TYPES } from '../src/domain/fallbacks/fallback.ts';
import { InvalidInput, NotFound, Unsupported } from '../src/domain/errors.ts';
import { builder } from './base/builder.ts';
import { TAKES_EFFECT } from './base/descriptions.ts';
import { LIST_LENGTH } from './base/limits.ts';

const TypeOfFallback = builder.enumType('FallbackType', {
  description: 'Kind of failure that fallbacks handle.',
  values: {
    GENERAL: {
      value: 'general',
      description:
        'Every failure. As soon as one model has CONTEXT_WINDOW or CONTENT_POLICY fallbacks, GENERAL fallbacks no longer handle failures of that type.',
    },
    CONTEXT_WINDOW: { value: 'context_window', description: 'Refusals of a conversation that is too long.' },
    CONTENT_POLICY: { value: 'content_policy', description: 'Refusals of the content of a conversation.' },
  } as const,
});

const FallbackRef = builder.objectRef<FallbackView>('ModelFallback').implement({
  description: 'Models that are called after a model failed.',
  fields: (t) => ({
    model: t.exposeString('model', {
      description: 'The model that failed. `*` stands for every model without its own fallbacks of this type.',
    }),
    type: t.expose('type', { type: TypeOfFallback, description: 'Failures that the fallbacks handle.' }),
    targets: t.stringList({ description: 'Models to call, in order.', resolve: ({ targets }) => [...targets] }),
    isConfigured: t.exposeBoolean('isConfigured', {
      description: 'Whether the configuration file sets them. Such fallbacks cannot be changed at run time.',
    }),
  }),
});

builder.queryField('modelFallbacks', (t) =>
  t.field({
    type: [FallbackRef],
    nullable: true,
    description:
      'Fallbacks in force, of the configuration and of the database, by type and model. For proxy administrators with full or read-only access.',
    args: { types: t.arg({ type: [TypeOfFallback], description: 'Types to list; all when absent.' }) },
    complexity: { field: 1, multiplier: LIST_LENGTH },
    resolve: (_root, { types }, { scope }) => [...listFallbacks(scope, { types: types ?? FALLBACK_TYPES })],
  }),
);

const SetInput = builder.inputType('SetModelFallbackInput', {
  description: 'Fallbacks of a model. They replace earlier ones of the same type.',
  fields: (t) => ({
    model: t.string({
      required: true,
      description: 'The model. `*` stands for every model without its own fallbacks of this type.',
    }),
    targets: t.stringList({ required: true, description: 'Models to call after it failed, in order; at least one.' }),
    type: t.field({ type: TypeOfFallback, description: 'Failures that they handle; GENERAL when absent.' }),
  }),
});

const DeleteInput = builder.inputType('DeleteModelFallbackInput', {
  description: 'Fallbacks to delete.',
  fields: (t) => ({
    model: t.string({ required: true, description: 'The model.' }),
    type: t.field({ type: TypeOfFallback, description: 'Failures that they handle; GENERAL when absent.' }),
  }),
});

const DeletedRef = builder.objectRef<ChosenFallback>('DeletedModelFallback').implement({
  description: 'Fallbacks that were deleted.',
  fields: (t) => ({
    model: t.exposeString('model', { description: 'The model.' }),
    type: t.expose('type', { type: TypeOfFallback, description: 'Failures that they handled.' }),
  }),
});

builder.mutationFields((t) => ({
  setModelFallback: t.field({
    type: FallbackRef,
    description: `Stores the fallbacks of a model. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: SetInput, required: true, description: 'The model and its fallbacks.' }) },
    errors: {
      types: [InvalidInput, NotFound, Unsupported],
      union: { name: 'SetModelFallbackResult', description: 'The fallbacks, or why they were not stored.' },
    },
    resolve: (_root, { input: { model, targets, type } }, { scope }) =>
      setFallback(scope, { model, targets, type: type ?? 'general' }),
  }),
  deleteModelFallback: t.field({
    type: DeletedRef,
    description: `Deletes the stored fallbacks of a model. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: DeleteInput, required: true, description: 'The model.' }) },
    errors: {
      types: [InvalidInput, NotFound, Unsupported],
      union: { name: 'DeleteModelFallbackResult', description: 'The deleted fallbacks, or why they were not deleted.' },
    },
    resolve: (_root, { input: { model, type } }, { scope }) =>
      deleteFallback(scope, { model, type: type ?? 'general' }),
  }),
}));
