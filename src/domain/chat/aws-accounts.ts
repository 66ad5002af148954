import type { Secret } from '../secret.ts';

/** Credentials that sign calls to AWS. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
  /** Null for permanent credentials. */
  readonly sessionToken: Secret | null;
}

/** AWS identity of a deployment. Without settings it is the machine's own identity. */
export interface AwsAccount {
  /** Keys of the deployment. A role is assumed with them. */
  readonly keys: AwsCredentials | null;
  /** Profile of the shared AWS configuration files. */
  readonly profile: string | null;
  /**
   * The role to assume (`arn:aws:iam::…`), with the session name for its records; `externalId` where the role's owner
   * requires one.
   */
  readonly role: {
    readonly arn: string;
    readonly sessionName: string | null;
    readonly externalId: string | null;
  } | null;
  /** Web identity token that a role is assumed with: its text, the path of its file, or `oidc/file/…`, `oidc/env/…`. */
  readonly webIdentityToken: Secret | null;
  /** Region of STS. */
  readonly region: string;
  readonly stsEndpoint: string | null;
}

/** Resolves temporary credentials, and credentials that are not in the configuration. */
export interface AwsAccounts {
  /** Credentials that stay valid for a while. Throws CloudRefused. */
  for(account: AwsAccount): Promise<AwsCredentials>;
}
