import type { Deployment } from '../chat/provider.ts';
import type { DeclaredCredential } from '../credentials/credential.ts';
import { Forbidden } from '../errors.ts';
import type { StoredDeployment } from './stored-deployment.ts';

/** The deployments that calls may be sent to. The list is replaced as a whole, never changed. */
export interface DeploymentSource {
  /**
   * Deployments that are not blocked: first those of the configuration in its order, then stored ones, oldest first.
   */
  current(): readonly Deployment[];
  /** Whether the team's model of this name, or the common one (of no team), has only blocked deployments. */
  isBlocked(model: string, teamId: string | null): boolean;
  /**
   * Reads changes by other processes. Returns whether anything changed. Concurrent callers share one read. A call
   * shortly after a read returns false and reads nothing.
   */
  readChanges(): Promise<boolean>;
}

/** A deployment of the configuration, or a stored one with its row. */
export interface KnownDeployment {
  readonly deployment: Deployment;
  /** Null for a deployment of the configuration. */
  readonly stored: StoredDeployment | null;
}

/** A deployment that cannot be called. */
export interface BrokenDeployment extends Pick<Deployment, 'id' | 'modelGroup'> {
  /** Null for a deployment of the configuration. */
  readonly stored: StoredDeployment | null;
  /** Why it cannot be called. */
  readonly fault: string;
}

/** Every deployment of the configuration and of the database, in memory. */
export interface DeploymentRegistry extends DeploymentSource {
  /**
   * All deployments that calls can select, or could if they were not blocked. Includes misconfigured ones of the
   * configuration.
   */
  all(): readonly KnownDeployment[];
  broken(): readonly BrokenDeployment[];
  /** Access groups of a common model by its public name. For an alias also the names that allow its model. */
  accessGroupsOf(model: string): readonly string[];
  /** Whether a name selects a model of the team, not a common one, for keys of the team. */
  isTeamModel(teamId: string, model: string): boolean;
  /** The model of a configured alias, else the name itself. */
  targetOf(name: string): string;
  /** Replaces the deployments and credentials of the configuration. */
  configure(deployments: readonly Deployment[], credentials: readonly DeclaredCredential[]): void;
  /** Resolves the references of stored rows to environment variables again, after a variable changed. */
  rebuild(): void;
  /** Reads stored rows if any row changed since the last read. Returns whether one did. Throws Unavailable. */
  refresh(): Promise<boolean>;
  /** Reads stored rows after a change by this process. Throws Unavailable. */
  reload(): Promise<void>;
}

/** Makes a deployment from a request or a stored row. */
export interface DeploymentReader {
  /** Throws InvalidInput with the faults that were found. */
  read(stored: Pick<StoredDeployment, 'id' | 'modelGroup' | 'params' | 'secrets' | 'info'>): Deployment;
}

/** A source with a fixed list, for tests and scripts. */
export const fixedDeployments = (deployments: readonly Deployment[]): DeploymentSource => ({
  current: () => deployments,
  isBlocked: () => false,
  readChanges: () => Promise.resolve(false),
});

/** Throws Forbidden for a model whose deployments are all blocked. */
export function assertNotBlocked(
  source: Pick<DeploymentSource, 'isBlocked'>,
  model: string,
  teamId: string | null,
): void {
  if (source.isBlocked(model, teamId)) throw new Forbidden('Model is blocked', 'model_blocked');
}
