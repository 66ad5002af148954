import type { DeclaredConfig } from '../domain/settings/ownership.ts';
import { sameValue } from '../domain/catalog/same-value.ts';
import type { DeploymentRegistry } from '../domain/deployments/deployment-source.ts';
import type { A2aAgents } from '../domain/a2a-agents/agents.ts';
import type { Guardrails } from '../domain/guardrails/guardrails.ts';
import type { McpServers } from '../domain/mcp-servers/mcp-server.ts';
import type { PassThroughEndpoints } from '../domain/pass-through/endpoints.ts';
import type { SearchTools } from '../domain/search-tools/search-tool.ts';
import type { Policies } from '../domain/policies/policies.ts';
import type { Prompts } from '../domain/prompts/prompt.ts';
import type { VectorStores } from '../domain/vector-stores/vector-store.ts';
import { systemClock } from '../runtime/clock.ts';
import { ConfigError } from '../runtime/settings/config-fault.ts';
import type { ReloadedConfig } from '../runtime/settings/reload.ts';
import { isLive, SETTING_PATHS } from '../runtime/settings/live-settings.ts';
import { assertRegular, watchFiles } from '../runtime/settings/watch-files.ts';
import type { RunningConfiguration } from '../runtime/stored-settings/configuration.ts';
import { configuredDeployments, warnOfRouters } from './compose-deployments.ts';
import type { StartContext } from './context.ts';

const MS_PER_SECOND = 1_000;

interface ReloadParts {
  readonly configuration: RunningConfiguration;
  readonly readVariables: () => boolean;
  readonly deployments: Pick<DeploymentRegistry, 'all' | 'configure' | 'rebuild'>;
  readonly passThrough: Pick<PassThroughEndpoints, 'configure'>;
  readonly guardrails: Pick<Guardrails, 'configure' | 'resolve'>;
  readonly a2aAgents: Pick<A2aAgents, 'configure'>;
  readonly vectorStores: Pick<VectorStores, 'configure'>;
  readonly searchTools: Pick<SearchTools, 'configure'>;
  readonly policies: Pick<Policies, 'configure'>;
  readonly prompts: Pick<Prompts, 'configure'>;
  readonly mcpServers: Pick<McpServers, 'configure' | 'resolve'>;
}

/** Reads the configuration again on request, and after a change of its files or of stored variables. */
export interface Reloads {
  /**
   * Applies the new configuration, or keeps the running one and logs the reason. Does nothing without a file. Never
   * throws.
   */
  reload(): Promise<void>;
  /** Reads the file again if the store has variables, because the file may refer to them. */
  prepare(): Promise<void>;
  start(): void;
}

export function composeReload(context: StartContext, parts: ReloadParts): Reloads {
  const { settings, log, shutdown } = context;
  const { configuration } = parts;
  let running: Promise<void> = Promise.resolve();
  const watch = watchFiles({
    files: () => configuration.current().files,
    everyMs: settings.configWatchSeconds * MS_PER_SECOND,
    scheduler: context.scheduler,
    onChange: () => void reload(),
  });

  async function reloadOnce(): Promise<void> {
    try {
      await watch.markCurrent();
      await assertRegular(configuration.current().files);
      apply(context, parts, await settings.configReader.read());
    } catch (error) {
      const failure = error instanceof ConfigError ? error.message : 'The configuration could not be read.';
      configuration.setLastReload({ at: systemClock.now(), failure });
      log.error({ err: error }, 'the new configuration was refused; the running one stays in force');
    }
  }

  /** Reloads run sequentially. */
  function reload(): Promise<void> {
    running = running.then(reloadOnce);
    return running;
  }

  const reloadFile = (): Promise<void> => (settings.config.file === null ? Promise.resolve() : reload());

  /** Stored variables apply immediately. References to them in the file apply after the file is read again. */
  const stopListening = configuration.onChange(() => {
    if (!parts.readVariables()) return;
    parts.deployments.rebuild();
    parts.guardrails.resolve();
    parts.mcpServers.resolve();
    void reloadFile();
  });

  shutdown.add('stored variables', stopListening);
  shutdown.add('reader of the configuration', () => settings.configReader.stop());
  shutdown.add('watch of the configuration', () => watch.stop());
  return {
    reload: reloadFile,
    prepare: () => (Object.keys(settings.environment.stored()).length === 0 ? Promise.resolve() : reloadFile()),
    start() {
      if (settings.config.file !== null && settings.configWatchSeconds > 0) watch.start();
    },
  };
}

/** Applies a new configuration. */
function apply({ settings, log }: StartContext, parts: ReloadParts, read: ReloadedConfig): void {
  const { configuration } = parts;
  const fixed = fixedChanges(configuration.current(), read.config);
  parts.deployments.configure(configuredDeployments(settings, read.deployments), read.credentials);
  parts.passThrough.configure(read.endpoints);
  parts.guardrails.configure(read.guardrails);
  parts.a2aAgents.configure(read.a2aAgents);
  parts.vectorStores.configure(read.vectorStores);
  parts.searchTools.configure(read.searchTools);
  parts.policies.configure(read.policies);
  parts.prompts.configure(read.prompts);
  parts.mcpServers.configure(read.mcpServers);
  configuration.declare(read.config);
  configuration.setLastReload({ at: systemClock.now(), failure: null });
  for (const warning of read.warnings) log.warn({}, warning);
  warnOfRouters({ log }, parts.deployments);
  if (fixed.length > 0)
    log.warn({ settings: fixed }, 'changed settings take effect at the next start: restart the process to apply them');
  log.info({ models: read.deployments.length }, 'the configuration was read again');
}

/** Changed settings that apply only after a restart. */
const fixedChanges = (before: DeclaredConfig, after: DeclaredConfig): readonly string[] =>
  SETTING_PATHS.filter((path) => !isLive(path) && !sameValue(valueAt(before, path), valueAt(after, path)));

function valueAt({ resolved }: DeclaredConfig, path: string): unknown {
  let value: unknown = resolved;
  for (const step of path.split('.')) {
    if (typeof value !== 'object' || value === null) return null;
    value = Reflect.get(value, step) as unknown;
  }
  return value ?? null;
}
