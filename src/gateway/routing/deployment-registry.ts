import type {
  Credential,
  CredentialFinder,
  CredentialStore,
  DeclaredCredential,
} from '../../domain/credentials/credential.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import type {
  BrokenDeployment,
  DeploymentReader,
  DeploymentRegistry,
  KnownDeployment,
} from '../../domain/deployments/deployment-source.ts';
import { accessGroupsOf, type AccessGroupsOf } from '../../domain/deployments/model-access-groups.ts';
import type { Parameters } from '../../domain/deployments/parameters.ts';
import type { DeploymentStore, StoredDeployment } from '../../domain/deployments/stored-deployment.ts';
import { teamModelFinder } from '../../domain/deployments/team-models.ts';
import { DomainError } from '../../domain/errors.ts';
import { namesAllowing } from '../../domain/keys/virtual-key.ts';
import { type ModelAliases, modelNamed, NO_MODEL_ALIASES } from '../../domain/routing/model-aliases.ts';

/** Minimum time between two reads that calls of unknown models cause, in ms. */
const READ_INTERVAL_MS = 250;

export interface RegistryOptions {
  /** Deployments of the configuration. */
  readonly configured: readonly Deployment[];
  /** Credentials of the configuration. */
  readonly declared: readonly DeclaredCredential[];
  /** Null: stored deployments are not used. */
  readonly deployments: Pick<DeploymentStore, 'all' | 'fingerprint'> | null;
  readonly credentials: Pick<CredentialStore, 'all' | 'fingerprint'>;
  readonly reader: DeploymentReader;
  readonly withCredential: (deployment: Deployment, credential: Parameters) => Deployment;
  /** Why a provider cannot be called at an address, or without one; null where it can. */
  readonly addressFault: (provider: string, apiBase: string | null) => string | null;
  /** Aliases of models; none when absent. */
  readonly aliases?: () => ModelAliases;
  /** Milliseconds of a monotonic clock. */
  readonly nowMs: () => number;
}

/** Values built from the configuration and the last read. */
interface RegistryState {
  readonly current: readonly Deployment[];
  readonly all: readonly KnownDeployment[];
  readonly broken: readonly BrokenDeployment[];
  /** Keys (`modelKeyOf`) of the models whose deployments are all blocked. */
  readonly blocked: ReadonlySet<string>;
  readonly accessGroupsOf: AccessGroupsOf;
  readonly isTeamModel: DeploymentRegistry['isTeamModel'];
}

/** Key of a model name, which is common or of a team. */
const modelKeyOf = ({ modelGroup, teamId = '' }: Pick<Deployment, 'modelGroup' | 'teamId'>): string =>
  JSON.stringify([teamId, modelGroup]);

/**
 * Keeps every deployment in memory, and reads stored ones again after changes. Before the first read it has no stored
 * deployments.
 */
export function createDeploymentRegistry(options: RegistryOptions): DeploymentRegistry & CredentialFinder {
  let { configured, declared } = options;
  let rows: readonly StoredDeployment[] = [];
  let credentials: ReadonlyMap<string, Credential> = new Map();
  let fingerprint = '';
  let built = build();
  let reading: Promise<unknown> = Promise.resolve();
  let readingChanges: Promise<boolean> | null = null;
  let lastReadMs = -Infinity;

  function find(name: string): DeclaredCredential | null {
    const own = declared.find(({ id }) => id === name);
    if (own !== undefined) return own;
    const found = credentials.get(name);
    return found === undefined || found.unreadable ? null : found;
  }

  function firstOf(provider: string): DeclaredCredential | null {
    const own = declared.find(({ info }) => info['custom_llm_provider'] === provider);
    if (own !== undefined) return own;
    const ofProvider = [...credentials.values()].filter(
      ({ info, unreadable }) => !unreadable && info['custom_llm_provider'] === provider,
    );
    const [oldest] = ofProvider.toSorted((one, other) => one.createdAt.getTime() - other.createdAt.getTime());
    return oldest ?? null;
  }

  /** A deployment with its credential, or its fault as a text. */
  function complete(deployment: Deployment): Deployment | string {
    const { credentialName } = deployment;
    const credential = credentialName === undefined ? null : find(credentialName);
    if (credentialName !== undefined && credential === null) return `The credential ${credentialName} does not exist.`;
    const whole = credential === null ? deployment : options.withCredential(deployment, credential);
    return options.addressFault(whole.provider, whole.apiBase) ?? whole;
  }

  function readRow(row: StoredDeployment): Deployment | string {
    if (row.unreadable) return 'It was stored with another salt key.';
    try {
      return complete(options.reader.read(row));
    } catch (error) {
      if (error instanceof DomainError) return error.message;
      throw error;
    }
  }

  function build(): RegistryState {
    const all: KnownDeployment[] = [];
    const broken: BrokenDeployment[] = [];
    const add = (
      found: Deployment | string,
      of: Pick<Deployment, 'id' | 'modelGroup'>,
      row: StoredDeployment | null,
    ): void => {
      if (typeof found === 'string') broken.push({ id: of.id, modelGroup: of.modelGroup, stored: row, fault: found });
      else all.push({ deployment: found, stored: row });
    };
    for (const deployment of configured) {
      const whole = deployment.misconfigured ?? complete(deployment);
      if (typeof whole === 'string') {
        // A misconfigured deployment of the file is added to both lists. In `all`, its calls fail with 503.
        add({ ...deployment, misconfigured: whole }, deployment, null);
      }
      add(whole, deployment, null);
    }
    const usedIds = new Set(configured.map(({ id }) => id));
    for (const row of rows)
      add(usedIds.has(row.id) ? 'The configuration file has a model with this id.' : readRow(row), row, row);
    const unblocked = all.filter(({ stored }) => stored?.blocked !== true);
    const callable = new Set(unblocked.map(({ deployment }) => modelKeyOf(deployment)));
    const modelKeys = all.map(({ deployment }) => modelKeyOf(deployment));
    const current = unblocked.map(({ deployment }) => deployment);
    const allDeployments = all.map(({ deployment }) => deployment);
    return {
      current,
      all,
      broken,
      blocked: new Set(modelKeys.filter((key) => !callable.has(key))),
      isTeamModel: teamModelFinder(current, allDeployments),
      accessGroupsOf: accessGroupsOf(allDeployments.filter(({ teamId }) => teamId === undefined)),
    };
  }

  async function readOnce(): Promise<boolean> {
    const parts = await Promise.all([options.deployments?.fingerprint() ?? '', options.credentials.fingerprint()]);
    const latest = parts.join('\n');
    if (latest === fingerprint) return false;
    const [storedDeployments, storedCredentials] = await Promise.all([
      options.deployments?.all({ ids: null }) ?? [],
      options.credentials.all({ ids: null }),
    ]);
    rows = storedDeployments;
    credentials = new Map(storedCredentials.map((one) => [one.id, one]));
    fingerprint = latest;
    built = build();
    return true;
  }

  /** Reads run sequentially, so that an older result never replaces a newer one. */
  function refresh(): Promise<boolean> {
    const next = reading.then(readOnce, readOnce);
    reading = next;
    return next;
  }

  const targetOf = (name: string): string => modelNamed(options.aliases?.() ?? NO_MODEL_ALIASES, name);

  return {
    current: () => built.current,
    isBlocked(name, teamId) {
      const modelGroup = targetOf(name);
      return (
        built.blocked.has(modelKeyOf({ modelGroup })) ||
        (teamId !== null && built.blocked.has(modelKeyOf({ modelGroup, teamId })))
      );
    },
    all: () => built.all,
    broken: () => built.broken,
    accessGroupsOf(name) {
      const model = targetOf(name);
      return model === name ? built.accessGroupsOf(name) : [...namesAllowing(model), ...built.accessGroupsOf(model)];
    },
    isTeamModel: (teamId, name) => built.isTeamModel(teamId, targetOf(name)),
    targetOf,
    find,
    firstOf,
    declared: () => declared,
    configure(deployments, declaredCredentials) {
      configured = deployments;
      declared = declaredCredentials;
      built = build();
    },
    rebuild() {
      built = build();
    },
    refresh,
    async reload() {
      await refresh();
    },
    readChanges() {
      if (readingChanges !== null) return readingChanges;
      if (options.nowMs() - lastReadMs < READ_INTERVAL_MS) return Promise.resolve(false);
      lastReadMs = options.nowMs();
      readingChanges = refresh().finally(() => {
        readingChanges = null;
      });
      return readingChanges;
    },
  };
}
