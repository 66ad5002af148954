/** A variable that a server needs. */
interface Variable {
  readonly name: string;
  readonly description: string;
  readonly secret: boolean;
}

interface SuggestedServer {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly category: string;
  readonly url: string;
  readonly variables: readonly Variable[];
}

const token = (name: string, description: string): Variable => ({ name, description, secret: true });

/** Well-known public MCP servers over streamable HTTP. */
const SERVERS: readonly SuggestedServer[] = [
  {
    name: 'github',
    title: 'GitHub',
    description: 'Repositories, issues and pull requests on GitHub.',
    category: 'Development',
    url: 'https://api.githubcopilot.com/mcp/',
    variables: [token('GITHUB_PERSONAL_ACCESS_TOKEN', 'Personal access token of GitHub.')],
  },
  {
    name: 'linear',
    title: 'Linear',
    description: 'Issues and projects in Linear.',
    category: 'Development',
    url: 'https://mcp.linear.app/mcp',
    variables: [],
  },
  {
    name: 'notion',
    title: 'Notion',
    description: 'Pages and databases in Notion.',
    category: 'Documents',
    url: 'https://mcp.notion.com/mcp',
    variables: [],
  },
  {
    name: 'stripe',
    title: 'Stripe',
    description: 'Payments, customers and invoices in Stripe.',
    category: 'Finance',
    url: 'https://mcp.stripe.com',
    variables: [token('STRIPE_SECRET_KEY', 'Restricted key of Stripe.')],
  },
];

/** Suggestions for new servers. */
export const SUGGESTED_SERVERS = {
  servers: SERVERS.map(({ name, title, description, category, url, variables }) => ({
    name,
    title,
    description,
    icon_url: null,
    category,
    registry_url: null,
    transport: 'http',
    url,
    env_vars: variables,
  })),
  categories: [...new Set(SERVERS.map(({ category }) => category))].toSorted(),
};

/** Well-known APIs with an OpenAPI document. */
export const SUGGESTED_APIS = {
  apis: [
    {
      name: 'github',
      title: 'GitHub',
      description: 'The REST API of GitHub.',
      icon_url: null,
      spec_url:
        'https://raw.githubusercontent.com/github/rest-api-description/main/descriptions/api.github.com/api.github.com.json',
      oauth: null,
      key_tools: [],
    },
  ],
};
