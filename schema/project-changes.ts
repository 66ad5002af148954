import { createProject, deleteProjects, updateProject } from '../resolvers/projects.ts';
import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import type { ProjectPatch } from '../src/domain/projects/project.ts';
import { builder, type InputFields } from './base/builder.ts';
import { localId, localIds } from './base/global-id.ts';
import { reloadOwnersAfter, DeletedOwnersType } from './base/owner-changes.ts';
import { limitsOf, OwnerLimitsInput } from './base/owner-limits.ts';
import { readObject } from './base/json-inputs.ts';
import { ProjectType } from './base/refs.ts';

/** Fields of a new project and of a change. */
const projectFields = (t: InputFields) => ({
  alias: t.string({ description: 'Display name; null removes it.' }),
  description: t.string({ description: 'Purpose; null removes it.' }),
  models: t.stringList({ description: 'Public model names that its keys may call; empty for all of the team.' }),
  tags: t.stringList({ description: 'Tags.' }),
  metadata: t.field({ type: 'JSON', description: 'Client data: an object that replaces the old one.' }),
  blocked: t.boolean({ description: 'Whether its keys are refused; null changes nothing.' }),
  limits: t.field({ type: OwnerLimitsInput, description: 'Budget and limits.' }),
  budgetId: t.id({
    description:
      'Existing budget instead of `limits`: global id or local id. Both together are an error. For proxy administrators.',
  }),
});

const CreateProjectInput = builder.inputType('CreateProjectInput', {
  description: 'A new project.',
  fields: (t) => ({
    id: t.id({ description: 'Local id; generated when absent.' }),
    teamId: t.id({ required: true, description: 'Team of the project: global id or local id.' }),
    ...projectFields(t),
  }),
});

const UpdateProjectInput = builder.inputType('UpdateProjectInput', {
  description: 'Changes to a project. Absent fields stay as they are.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Project: global id or local id.' }),
    teamId: t.id({ description: 'New team: global id or local id; null changes nothing.' }),
    ...projectFields(t),
  }),
});

const DeleteProjectsInput = builder.inputType('DeleteProjectsInput', {
  description: 'Projects to delete.',
  fields: (t) => ({
    ids: t.idList({ required: true, description: 'Projects: global ids or local ids.' }),
  }),
});

type Fields = Omit<typeof UpdateProjectInput.$inferInput, 'id'>;

function patchOf({ teamId, alias, description, models, tags, metadata, blocked }: Fields): ProjectPatch {
  return {
    ...(teamId === undefined || teamId === null ? {} : { teamId: localId('Team', teamId) }),
    ...(alias === undefined ? {} : { alias }),
    ...(description === undefined ? {} : { description }),
    ...(models === undefined ? {} : { models: models ?? [] }),
    ...(tags === undefined ? {} : { tags: tags ?? [] }),
    ...(metadata === undefined ? {} : { metadata: readObject(metadata, 'metadata') }),
    ...(blocked === undefined || blocked === null ? {} : { blocked }),
  };
}

const budgetOf = ({ budgetId, limits }: Fields) => ({
  budgetId: localId('Budget', budgetId ?? null),
  limits: limitsOf(limits),
});

builder.mutationFields((t) => ({
  createProject: t.field({
    type: ProjectType,
    description: 'Creates a project of a team. For proxy, organization and team administrators.',
    args: { input: t.arg({ type: CreateProjectInput, required: true, description: 'The new project.' }) },
    errors: {
      types: [InvalidInput, NotFound, Conflict],
      union: { name: 'CreateProjectResult', description: 'The project, or why it was not created.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      const { id, teamId, ...fields } = input;
      const draft = {
        id: id ?? null,
        teamId: localId('Team', teamId),
        patch: patchOf(fields),
        budget: budgetOf(fields),
      };
      return (await reloadOwnersAfter(scope, createProject(scope, draft))).project;
    },
  }),
  updateProject: t.field({
    type: ProjectType,
    description:
      'Changes a project. For proxy, organization and team administrators. They must also administer the new team, if the team changes.',
    args: { input: t.arg({ type: UpdateProjectInput, required: true, description: 'The project and its changes.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'UpdateProjectResult', description: 'The changed project, or why it was not changed.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      const { id, ...fields } = input;
      const change = { id: localId('Project', id), patch: patchOf(fields), budget: budgetOf(fields) };
      return (await reloadOwnersAfter(scope, updateProject(scope, change))).project;
    },
  }),
  deleteProjects: t.field({
    type: DeletedOwnersType,
    description: 'Deletes projects. For proxy administrators.',
    args: { input: t.arg({ type: DeleteProjectsInput, required: true, description: 'The projects to delete.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'DeleteProjectsResult', description: 'The deleted projects, or why none was deleted.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      const removed = await reloadOwnersAfter(scope, deleteProjects(scope, localIds('Project', input.ids)));
      return { ids: removed.map(({ project }) => project.id) };
    },
  }),
}));
