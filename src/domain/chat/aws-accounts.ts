import type { Secret } from '../secret.ts';

/** What signs for calls to AWS. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
  /** Of credentials that are lent for a time. */
  readonly sessionToken: Secret | null;
}

/** Who is to sign, as a deployment says it. Where it says nothing, that is whoever the machine is to AWS. */
export interface AwsAccount {
  /** Keys of the deployment's own; a role is taken on by them. */
  readonly keys: AwsCredentials | null;
  /** A profile of the files that AWS's own tools share. */
  readonly profile: string | null;
  /** The role that is taken on (`arn:aws:iam::…`), under a name for its records; `externalId` where its owner asks for one. */
  readonly role: {
    readonly arn: string;
    readonly sessionName: string | null;
    readonly externalId: string | null;
  } | null;
  /** By what token of another party a role is taken on: its text, the path of its file, or `oidc/file/…`, `oidc/env/…`. */
  readonly webIdentityToken: Secret | null;
  /** Where roles are taken on. */
  readonly region: string;
  readonly stsEndpoint: string | null;
}

/** Finds what signs for an account, where that is lent or lies elsewhere than in the configuration. */
export interface AwsAccounts {
  /** Credentials that hold for a while yet. Throws CloudRefused. */
  for(account: AwsAccount): Promise<AwsCredentials>;
}
