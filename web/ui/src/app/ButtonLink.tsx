import { Button, type ButtonProps } from '@patternfly/react-core';
import type { AnchorHTMLAttributes } from 'react';
import { Link } from 'react-router';

const Anchor = ({ href, ...props }: AnchorHTMLAttributes<HTMLAnchorElement>) => <Link {...props} to={href ?? ''} />;

/** A link to another page that looks like a button. */
export function ButtonLink({ to, ...props }: Omit<ButtonProps, 'component' | 'href' | 'ref'> & { to: string }) {
  return <Button {...props} component={Anchor} href={to} />;
}
