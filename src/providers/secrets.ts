import type { Deployment } from '../domain/chat/provider.ts';

/** Everything of a deployment that must not be shown. */
export function secretsOf({ apiKey, secrets }: Deployment): readonly string[] {
  const all = Object.values(secrets).map((secret) => secret.reveal());
  if (apiKey !== null) all.push(apiKey.reveal());
  return all.filter((secret) => secret !== '');
}

/** A text of an upstream as it may be shown. */
export function withoutSecrets(deployment: Deployment, text: string): string {
  return secretsOf(deployment).reduce((left, secret) => left.replaceAll(secret, '<secret>'), text);
}

/** Whether any of these texts tells a secret of the deployment. */
export function tellsSecret(deployment: Deployment, texts: readonly string[]): boolean {
  return secretsOf(deployment).some((secret) => texts.some((text) => text.includes(secret)));
}
