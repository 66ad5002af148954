import { randomUUID } from 'node:crypto';
import { on } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { A2aAgent } from '../../domain/a2a-agents/agent.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import type { DeclaredCredential } from '../../domain/credentials/credential.ts';
import type { GuardrailDefinition } from '../../domain/guardrails/definition.ts';
import type { McpServerDefinition } from '../../domain/mcp-servers/mcp-server.ts';
import type { PassThroughEndpoint } from '../../domain/pass-through/endpoint.ts';
import type { SearchTool } from '../../domain/search-tools/search-tool.ts';
import type { FilePolicies } from '../../domain/policies/policies.ts';
import type { PromptVersion } from '../../domain/prompts/prompt.ts';
import type { VectorStore } from '../../domain/vector-stores/vector-store.ts';
import type { DeclaredConfig } from '../../domain/settings/ownership.ts';
import { withRestoredSecrets } from './marked-secrets.ts';
import { ConfigError, type ConfigFault } from './config-fault.ts';

/** Parts of a new configuration file that a running process applies. */
export interface ReloadedConfig {
  readonly config: DeclaredConfig;
  readonly deployments: readonly Deployment[];
  readonly credentials: readonly DeclaredCredential[];
  readonly endpoints: readonly PassThroughEndpoint[];
  readonly guardrails: readonly GuardrailDefinition[];
  readonly a2aAgents: readonly A2aAgent[];
  readonly vectorStores: readonly VectorStore[];
  readonly searchTools: readonly SearchTool[];
  readonly policies: FilePolicies;
  readonly prompts: readonly PromptVersion[];
  readonly mcpServers: readonly McpServerDefinition[];
  readonly warnings: readonly string[];
}

/** `ReloadedConfig` without functions and models, as the worker thread sends it. */
export interface TransferredConfig extends Omit<ReloadedConfig, 'config' | 'deployments'> {
  readonly config: Omit<DeclaredConfig, 'placeOf'>;
  /** Places of settings by section and name. */
  readonly places: Readonly<Record<string, Readonly<Record<string, Place>>>>;
}

type Place = ReturnType<DeclaredConfig['placeOf']>;

/** Input of the thread. */
export interface ReloadTask {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Marks secrets in the answer. A random text that no configuration contains. */
  readonly mark: string;
}

/** Asks for the next answer of a reading. */
const NEXT_ANSWER = 'next';

/**
 * An answer of the thread. The thread sends the next one on request: receiving many models in one step would delay
 * requests.
 */
export type ReloadAnswer =
  | { readonly kind: 'models'; readonly deployments: unknown; readonly declared: readonly unknown[] }
  | { readonly kind: 'end'; readonly config: unknown }
  | { readonly kind: 'refused'; readonly faults: readonly ConfigFault[] };

/** Timeout of one reading, in ms. */
const READ_TIMEOUT_MS = 60_000;
/** How long the thread waits for the next change, in ms: changes of a file often follow each other. */
const IDLE_MS = 60_000;
/** Size of the young generation of the thread, in MB: a reading creates many short-lived objects. */
const YOUNG_GENERATION_MB = 32;

/** Reads the configuration again. */
export interface ConfigReader {
  /**
   * Throws ConfigError with every fault, and an Error when the thread ends without an answer or takes over a minute.
   */
  read(): Promise<ReloadedConfig>;
  /** Ends the idle thread. A running reading continues. */
  stop(): void;
}

/**
 * Reads the configuration on a worker thread, so that requests are served meanwhile. `env` is called for each reading.
 * The thread stays for a minute, because its start takes longer than a reading.
 */
export function createConfigReader(argv: readonly string[], env: () => NodeJS.ProcessEnv): ConfigReader {
  let idle: { readonly worker: Worker; readonly end: NodeJS.Timeout } | null = null;
  /** Threads that have ended. A message to one of them is lost without an error. */
  const ended = new WeakSet<Worker>();

  function newWorker(): Worker {
    const worker = startWorker();
    worker.once('exit', () => {
      ended.add(worker);
      if (idle?.worker === worker) stop();
    });
    return worker;
  }

  function takeWorker(): Worker {
    const last = idle;
    idle = null;
    if (last === null) return newWorker();
    clearTimeout(last.end);
    return last.worker;
  }

  function stop(): void {
    if (idle === null) return;
    clearTimeout(idle.end);
    void idle.worker.terminate();
    idle = null;
  }

  /** Keeps a thread for the next reading. Ends the idle thread that a concurrent reading may have kept. */
  function keep(worker: Worker): void {
    stop();
    if (ended.has(worker)) return;
    idle = { worker, end: setTimeout(stop, IDLE_MS).unref() };
  }

  return {
    stop,
    async read() {
      const worker = takeWorker();
      try {
        const read = await readOnWorker(worker, { argv, env: { ...env() }, mark: randomUUID() });
        keep(worker);
        return read;
      } catch (error) {
        if (error instanceof ConfigError) keep(worker);
        else void worker.terminate();
        throw error;
      }
    },
  };
}

function startWorker(): Worker {
  const worker = new Worker(new URL('./reload-worker.ts', import.meta.url), {
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  });
  // The thread must not delay a shutdown.
  worker.unref();
  // After an error the thread ends: `exit` ends a running reading, and removes an idle thread.
  worker.on('error', () => {});
  return worker;
}

async function readOnWorker(worker: Worker, task: ReloadTask): Promise<ReloadedConfig> {
  const { mark } = task;
  const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
  const deployments: Deployment[] = [];
  const declared: unknown[] = [];
  const answers = on(worker, 'message', { close: ['exit'], signal }) as AsyncIterable<[ReloadAnswer]>;
  worker.postMessage(task);
  for await (const [answer] of answers) {
    if (answer.kind === 'refused') throw new ConfigError(answer.faults);
    if (answer.kind === 'end')
      return reloadedOf(withRestoredSecrets(answer.config, mark) as TransferredConfig, deployments, declared);
    // The thread prepares the next answer meanwhile.
    worker.postMessage(NEXT_ANSWER);
    deployments.push(...(withRestoredSecrets(answer.deployments, mark) as readonly Deployment[]));
    declared.push(...answer.declared);
    // Yield, so that requests are served between two answers.
    await nextTurn();
  }
  throw new Error('The thread that reads the configuration ended without an answer.');
}

function reloadedOf(
  { config, places, ...rest }: TransferredConfig,
  deployments: readonly Deployment[],
  models: readonly unknown[],
): ReloadedConfig {
  const placeOf = (section: string, name: string): Place =>
    places[section]?.[name] ?? { source: config.file ?? 'config file', line: null };
  const declared = models.length === 0 ? config.declared : { ...config.declared, model_list: models };
  return { ...rest, deployments, config: { ...config, declared, placeOf } };
}
