import type { AnswerTypes } from './notation.ts';

const SOURCE = '{ source: string, repo?: string, url?: string, path?: string, ref?: string, sha?: string }';
const AUTHOR = '{ name: string, email?: string }';
const SHOWN = `
  id: string, name: string, version: string | null, description: string | null, source: ${SOURCE},
  author: ${AUTHOR} | null, homepage: string | null, keywords: string[], category: string | null,
  enabled: boolean, created_at: string, updated_at: string
`;
const PLUGIN = `{ ${SHOWN}, domain: string | null, namespace: string | null, created_by: string }`;
const DONE = '{ status: string, message: string }';

/** Answers of route rows about plugins. */
export const PLUGIN_ANSWERS: AnswerTypes = {
  'plugins.delete': DONE,
  'plugins.disable': DONE,
  'plugins.enable': DONE,
  'plugins.extensions': 'object[]',
  'plugins.get': PLUGIN,
  'plugins.hub': `{ plugins: { ${SHOWN} }[], count: integer }`,
  'plugins.list': `{ plugins: ${PLUGIN}[], count: integer }`,
  'plugins.marketplace': `
    { name: string, owner: { name: string, email: string }, plugins: {
      name: string, source: ${SOURCE}, version?: string, description?: string, author?: ${AUTHOR}, homepage?: string,
      keywords?: string[], category?: string
    }[] }
  `,
  'plugins.register': `{ status: string, action: string, plugin: ${PLUGIN} }`,
  'plugins.replace': `{ status: string, action: string, plugin: ${PLUGIN} }`,
};
