import { isJsonObject } from '../../domain/json-object.ts';
import { once } from 'node:events';
import { parentPort } from 'node:worker_threads';
import { keyGenerator } from '../identifiers.ts';
import { withMarkedSecrets } from './marked-secrets.ts';
import { ConfigError } from './config-fault.ts';
import type { TransferredConfig, ReloadAnswer, ReloadTask } from './reload.ts';
import { readSettings, type Settings } from './settings.ts';

// Worker thread that reads the configuration, once for each task.

if (parentPort === null) throw new Error('This module runs only in a worker thread.');
const port = parentPort;

/** Maximum number of models in one answer. */
const BATCH = 25;

/** Places of the settings in every section that is a map. */
function placesOf({ declared, placeOf }: Settings['config']): TransferredConfig['places'] {
  return Object.fromEntries(
    Object.entries(declared).map(([section, content]) => {
      const isMap = isJsonObject(content);
      const names = isMap ? Object.keys(content) : [];
      return [section, Object.fromEntries(names.map((name) => [name, placeOf(section, name)]))];
    }),
  );
}

function* reloadAnswers({ argv, env, mark }: ReloadTask): Generator<ReloadAnswer> {
  try {
    const settings = readSettings(argv, env, keyGenerator);
    const { config, deployments, credentials, passThrough, guardrails, warnings } = settings;
    const { a2aAgents, mcp, policies, prompts, searchTools, vectorStores } = settings;
    const { model_list: listed, ...declared } = config.declared;
    const { model_list: _unused, ...resolved } = config.resolved;
    const models: readonly unknown[] = Array.isArray(listed) ? listed : [];
    for (let from = 0; from < models.length; from += BATCH)
      yield {
        kind: 'models',
        deployments: withMarkedSecrets(deployments.slice(from, from + BATCH), mark),
        declared: models.slice(from, from + BATCH),
      };
    const whole: TransferredConfig = {
      config: { file: config.file, files: config.files, declared, resolved },
      places: placesOf(config),
      credentials,
      endpoints: passThrough.endpoints,
      guardrails: guardrails.definitions,
      a2aAgents,
      vectorStores,
      searchTools,
      policies,
      prompts,
      mcpServers: mcp.servers,
      warnings,
    };
    yield { kind: 'end', config: withMarkedSecrets(whole, mark) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    yield { kind: 'refused', faults: error.faults };
  }
}

/** Waits for the next message of the main thread. The thread stays alive meanwhile. */
const nextMessage = async (): Promise<unknown> => {
  const [message] = (await once(port, 'message')) as [unknown];
  return message;
};

for (;;) {
  // oxlint-disable-next-line no-await-in-loop -- one task after another
  const task = (await nextMessage()) as ReloadTask;
  for (const answer of reloadAnswers(task)) {
    port.postMessage(answer);
    if (answer.kind !== 'models') break;
    // oxlint-disable-next-line no-await-in-loop -- one answer after another
    await nextMessage();
  }
}
