import { Divider, Dropdown, DropdownGroup, DropdownItem, DropdownList, MenuToggle } from '@patternfly/react-core';
import { UserIcon } from '@patternfly/react-icons';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation, useNavigate, useParams } from 'react-router';
import { useLogout, useMe } from '../api/me';
import { formatMoment } from '../i18n/format';
import { ButtonLink } from './ButtonLink';
import { paths } from './paths';

/** Shows the current user. Renders nothing if the server requires no login. */
export function Account() {
  const { t, i18n } = useTranslation('login');
  const { cluster } = useParams();
  const { pathname, search } = useLocation();
  const navigate = useNavigate();
  const [open, setOpen] = useState(false);
  const { data: me } = useMe();
  const logout = useLogout();
  if (me?.auth !== 'kubernetes') {
    return null;
  }
  const known = me.clusters.flatMap(({ user, ...cluster }) => (user === null ? [] : [{ ...cluster, user }]));
  const here = known.find(({ id }) => id === cluster) ?? known[0];
  if (!here) {
    return pathname === paths.login() ? null : (
      <ButtonLink variant="plain" to={paths.login(cluster, pathname + search)}>
        {t('action')}
      </ButtonLink>
    );
  }
  return (
    <Dropdown
      isOpen={open}
      onOpenChange={setOpen}
      onSelect={() => {
        setOpen(false);
      }}
      popperProps={{ position: 'end' }}
      toggle={(ref) => (
        <MenuToggle
          ref={ref}
          isExpanded={open}
          variant="plainText"
          icon={<UserIcon />}
          aria-label={t('account', { user: here.user })}
          onClick={() => {
            setOpen(!open);
          }}
        >
          {shortName(here.user)}
        </MenuToggle>
      )}
    >
      {known.map(({ id, user, expires }) => (
        <DropdownGroup key={id} label={`${id}: ${user}`}>
          <DropdownList>
            <DropdownItem
              description={expires && t('until', { time: formatMoment(Date.parse(expires), i18n.language) })}
              onClick={() => {
                logout.mutate(id, { onSuccess: () => void navigate(paths.login(id)) });
              }}
            >
              {t('logout', { cluster: id })}
            </DropdownItem>
          </DropdownList>
        </DropdownGroup>
      ))}
      {known.length < me.clusters.length && (
        <>
          <Divider />
          <DropdownList>
            <DropdownItem onClick={() => void navigate(paths.login(me.clusters.find(({ user }) => user === null)?.id, pathname + search))}>
              {t('another')}
            </DropdownItem>
          </DropdownList>
        </>
      )}
    </Dropdown>
  );
}

/** Shortens the name of a service account; other names are short enough. */
const shortName = (user: string) => /^system:serviceaccount:[^:]+:(.+)$/.exec(user)?.[1] ?? user;
