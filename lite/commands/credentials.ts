import { type Command, FORMAT } from '../command.ts';
import type { Context } from '../context.ts';
import { UsageFailure } from '../failure.ts';
import { cell, jsonText, table } from '../terminal/table.ts';
import { jsonObjectOf } from '../../src/domain/json-object.ts';
import { itemsOf, type Values } from '../values.ts';
import { withoutNulls } from './keys.ts';
import { printAnswer } from './print-answer.ts';

const nameOf = (values: Values): string => encodeURIComponent(values.operand(0));

async function listCredentials(context: Context, values: Values): Promise<void> {
  const answer = await context.send('GET', '/credentials');
  const { terminal } = context.host;
  if (values.text('format') === 'json') return terminal.print(jsonText(answer));
  const rows = itemsOf(jsonObjectOf(answer)['credentials']).map((item) => {
    const { credential_name, display_name, source, credential_info } = jsonObjectOf(item);
    const provider = jsonObjectOf(credential_info)['custom_llm_provider'];
    return [credential_name, display_name, source, provider].map((value) => cell(value ?? ''));
  });
  const head = ['Credential Name', 'Display Name', 'Source', 'Custom LLM Provider'];
  terminal.print(table('Credentials', head, rows));
}

function createCredential(context: Context, values: Values): Promise<void> {
  const json = withoutNulls({
    credential_name: values.operand(0),
    credential_info: values.json('info'),
    credential_values: values.json('values'),
    display_name: values.text('display-name'),
  });
  return printAnswer(context, 'POST', '/credentials', { json });
}

function updateCredential(context: Context, values: Values): Promise<void> {
  const name = values.text('display-name');
  if ((name === null) === !values.flag('clear-display-name'))
    throw new UsageFailure('Pass exactly one of --display-name or --clear-display-name');
  return printAnswer(context, 'PATCH', `/credentials/${nameOf(values)}`, {
    json: { display_name: name, credential_info: {} },
  });
}

export const credentialCommands: readonly Command[] = [
  { names: ['credentials', 'list'], summary: 'List all credentials', options: FORMAT, run: listCredentials },
  {
    names: ['credentials', 'get'],
    summary: 'Get a credential by name',
    operands: ['credential-name'],
    run: (context, values) => printAnswer(context, 'GET', `/credentials/by_name/${nameOf(values)}`),
  },
  {
    names: ['credentials', 'create'],
    summary: 'Create a new credential',
    operands: ['credential-name'],
    options: {
      info: { type: 'string', required: true, help: 'Information, as a JSON object' },
      values: { type: 'string', required: true, help: 'Secrets, as a JSON object' },
      'display-name': { type: 'string', help: 'Name for people' },
    },
    run: createCredential,
  },
  {
    names: ['credentials', 'update'],
    summary: "Change a credential's display name",
    operands: ['credential-name'],
    options: {
      'display-name': { type: 'string', help: 'Name for people' },
      'clear-display-name': { type: 'boolean', help: 'Remove the name for people' },
    },
    run: updateCredential,
  },
  {
    names: ['credentials', 'delete'],
    summary: 'Delete a credential by name',
    operands: ['credential-name'],
    run: (context, values) => printAnswer(context, 'DELETE', `/credentials/${nameOf(values)}`),
  },
];
