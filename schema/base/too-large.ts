import { GraphQLError } from 'graphql';

/** A refusal because of a limit. */
export const tooLarge = (message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'TOO_LARGE' } });
