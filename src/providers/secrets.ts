import type { Deployment } from '../domain/chat/provider.ts';

/** All secrets of a deployment: its API key and its other secrets. Empty ones are omitted. */
export function secretsOf({ apiKey, secrets }: Deployment): readonly string[] {
  const all = Object.values(secrets).map((secret) => secret.reveal());
  if (apiKey !== null) all.push(apiKey.reveal());
  return all.filter((secret) => secret !== '');
}

/** The text with all secrets of the deployment replaced by `<secret>`. */
export function withoutSecrets(deployment: Deployment, text: string): string {
  return secretsOf(deployment).reduce((redacted, secret) => redacted.replaceAll(secret, '<secret>'), text);
}

/** Whether one of the texts contains a secret of the deployment. */
export function containsSecret(deployment: Deployment, texts: readonly string[]): boolean {
  return secretsOf(deployment).some((secret) => texts.some((text) => text.includes(secret)));
}
