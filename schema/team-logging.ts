import {
  addTeamCallback,
  disableTeamLogging,
  getTeamLogging,
  removeTeamCallback,
  type TeamLoggingView,
} from '../resolvers/team-logging.ts';
import { InvalidInput, NotFound } from '../src/domain/errors.ts';
import type { TeamCallback } from '../src/domain/teams/logging.ts';
import { builder } from './base/builder.ts';
import { localId } from './base/global-id.ts';
import { reloadOwnersAfter } from './base/owner-changes.ts';
import { readTexts } from './base/json-inputs.ts';
import { TeamType } from './base/refs.ts';

const CallbackTypeType = builder.enumType('TeamCallbackType', {
  description: 'Calls that a callback of a team receives.',
  values: {
    SUCCESS: { value: 'success', description: 'Calls that succeed.' },
    FAILURE: { value: 'failure', description: 'Calls that fail.' },
    SUCCESS_AND_FAILURE: { value: 'success_and_failure', description: 'All calls.' },
  } as const,
});

const TeamCallbackType = builder.objectRef<TeamCallback>('TeamCallback').implement({
  description: "A destination for the spans of a team's calls.",
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Kind of the callback, such as `langfuse`.' }),
    type: t.expose('type', { type: CallbackTypeType, description: 'Calls that it receives.' }),
    variables: t.expose('vars', { type: 'JSON', description: 'Variables by name. Secrets are redacted.' }),
  }),
});

const TeamLoggingType = builder.objectRef<TeamLoggingView>('TeamLogging').implement({
  description: 'Where calls of a team are exported.',
  fields: (t) => ({
    disabled: t.exposeBoolean('isDisabled', {
      description: 'Whether the export of the calls of the team is disabled. Spend and traces are always recorded.',
    }),
    callbacks: t.expose('callbacks', { type: [TeamCallbackType], description: 'Callbacks of the team.' }),
  }),
});

const AddTeamCallbackInput = builder.inputType('AddTeamCallbackInput', {
  description: 'A new callback of a team.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Team: global id or local id.' }),
    name: t.string({ required: true, description: 'Kind: `langfuse`, `langfuse_otel` or `langsmith`.' }),
    type: t.field({ type: CallbackTypeType, description: '`SUCCESS_AND_FAILURE` when absent.' }),
    variables: t.field({
      type: 'JSON',
      description: 'Variables of the kind by name, such as `langfuse_secret_key`: an object of texts.',
    }),
  }),
});

const RemoveTeamCallbackInput = builder.inputType('RemoveTeamCallbackInput', {
  description: 'A callback to remove from a team.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Team: global id or local id.' }),
    name: t.string({ required: true, description: 'Kind of the callback, such as `langfuse`.' }),
  }),
});

const DisableTeamLoggingInput = builder.inputType('DisableTeamLoggingInput', {
  description: 'The team whose calls are no longer exported.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Team: global id or local id.' }),
  }),
});

builder.queryFields((t) => ({
  teamLogging: t.field({
    type: TeamLoggingType,
    nullable: true,
    description:
      'Where calls of a team are exported. For proxy administrators with full or read-only access, and for administrators of the organization and the team.',
    args: { id: t.arg.id({ required: true, description: 'Team: global id or local id.' }) },
    resolve: (_root, { id }, { scope }) => getTeamLogging(scope, { id: localId('Team', id) }),
  }),
}));

builder.mutationFields((t) => ({
  addTeamCallback: t.field({
    type: TeamType,
    description:
      'Adds a destination for the spans of the calls of a team, and enables logging again. For proxy, organization and team administrators.',
    args: { input: t.arg({ type: AddTeamCallbackInput, required: true, description: 'The new callback.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'AddTeamCallbackResult', description: 'The team, or why no callback was added.' },
    },
    resolve: async (_root, { input: { id, name, type, variables } }, { scope }) => {
      const callback = {
        name,
        type: type ?? ('success_and_failure' as const),
        vars: readTexts(variables, 'variables'),
      };
      const { team } = await reloadOwnersAfter(scope, addTeamCallback(scope, { id: localId('Team', id), callback }));
      return { id: team.id };
    },
  }),
  removeTeamCallback: t.field({
    type: TeamType,
    description:
      'Removes the callbacks of one kind from a team. Its other callbacks stay, and logging is not disabled. For proxy, organization and team administrators.',
    args: { input: t.arg({ type: RemoveTeamCallbackInput, required: true, description: 'The callback to remove.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'RemoveTeamCallbackResult', description: 'The team, or why no callback was removed.' },
    },
    resolve: async (_root, { input: { id, name } }, { scope }) => {
      const removal = removeTeamCallback(scope, { id: localId('Team', id), callback: name });
      const { team } = await reloadOwnersAfter(scope, removal);
      return { id: team.id };
    },
  }),
  disableTeamLogging: t.field({
    type: TeamType,
    description:
      'Stops the export of the calls of a team, and removes its callbacks. Spend and traces are still recorded. For proxy, organization and team administrators.',
    args: { input: t.arg({ type: DisableTeamLoggingInput, required: true, description: 'The team.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'DisableTeamLoggingResult', description: 'The team, or why its logging was not disabled.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      const { team } = await reloadOwnersAfter(scope, disableTeamLogging(scope, { id: localId('Team', input.id) }));
      return { id: team.id };
    },
  }),
}));
