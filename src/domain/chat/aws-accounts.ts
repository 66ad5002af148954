import type { Secret } from '../secret.ts';

/** Credentials that sign calls to AWS. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
  /** Null for permanent credentials. */
  readonly sessionToken: Secret | null;
}

/** AWS identity of a deployment. When no credentials are set, it is the identity of the machine. */
export interface AwsAccount {
  /** Access keys of the deployment. They sign the calls, or the request that assumes `role`. */
  readonly keys: AwsCredentials | null;
  /** Profile of the shared AWS configuration files. */
  readonly profile: string | null;
  /**
   * The role to assume (`arn:aws:iam::…`). `sessionName` identifies the session in the logs of AWS. `externalId` is set
   * where the owner of the role requires one.
   */
  readonly role: {
    readonly arn: string;
    readonly sessionName: string | null;
    readonly externalId: string | null;
  } | null;
  /** Web identity token for assuming a role: its text, the path of its file, or `oidc/file/…`, `oidc/env/…`. */
  readonly webIdentityToken: Secret | null;
  /** Region of STS, the AWS service that issues temporary credentials. */
  readonly region: string;
  readonly stsEndpoint: string | null;
}

/** Resolves temporary credentials, and credentials that are not in the configuration. */
export interface AwsAccounts {
  /** Credentials that stay valid for a while. Throws CloudRefused. */
  for(account: AwsAccount): Promise<AwsCredentials>;
}
