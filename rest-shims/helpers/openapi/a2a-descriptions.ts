/** One-line descriptions of route rows about agents of the A2A protocol. */
export const A2A_DESCRIPTIONS: Readonly<Record<string, string>> = {
  'a2a.call': 'Send a JSON-RPC message of the A2A protocol to an agent.',
  'a2a.card': 'Read the card of an agent.',
  'a2aAgents.create': 'Create an A2A agent.',
  'a2aAgents.delete': 'Delete an A2A agent.',
  'a2aAgents.get': 'Read an A2A agent.',
  'a2aAgents.hub': 'List the cards of public A2A agents.',
  'a2aAgents.identity': 'Read the identity of an A2A agent: none.',
  'a2aAgents.identityProviders': 'List identity providers of A2A agents: none.',
  'a2aAgents.list': 'List A2A agents.',
  'a2aAgents.publish': 'Make an A2A agent public.',
  'a2aAgents.publishAll': 'Set which A2A agents are public.',
  'a2aAgents.replace': 'Replace an A2A agent.',
  'a2aAgents.stop': 'Send the request of the kill switch of an A2A agent.',
  'a2aAgents.update': 'Change an A2A agent.',
};
