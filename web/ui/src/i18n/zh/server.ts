import type { ErrorCode, Schemas } from '../../api/client';
import type { Cause, Sentence } from '../../session/events';
import type { ServerWords } from '../serverWords';
import { common } from './common';
import { options } from './options';

type NoteCode = Schemas['NoteCode'];
type RetryCode = Schemas['RetryCode'];

/** The Chinese translation of the server's sentences. */
export const server: ServerWords = {
  quotes: (code) => quoted.has(code),
  quoted: '服务器原文',
  error: ({ code, details }, moment) => errors[Object.hasOwn(errors, code) ? code : 'internal'](details, moment),
  cause: (cause) => {
    const said = [sentence(cause), cause.because ? sentence(cause.because) : ''];
    return said.includes(null) ? null : said.filter(Boolean).join('。');
  },
  status: (word) => statuses[word] ?? word,
  anomaly: (code) => anomalies[code],
  note: (note, object) => (note && Object.hasOwn(notes, note.code) ? notes[note.code](note.detail ?? '', object) : null),
  conflict: ({ field, detail }) => `${detail}（${field}）：Helm 仅在选择“${options.names.forceConflicts}”时才会接管`,
  retry: (code) => (Object.hasOwn(retries, code) ? retries[code] : null),
  why: ({ status, reason, kind, apiVersion }) => {
    if (status === 'NotFound') {
      return '该对象不存在';
    }
    if (reason === 'RemovedByTTL' && status === 'Failed') {
      return null; // the message has the reason
    }
    return reason === 'UnknownKind' ? notes.unknownKind('', { kind, apiVersion }) : (ownReasons[reason ?? ''] ?? null);
  },
};

/** The codes whose messages say more than their translations: who lacks a right, what is wrong with a value, which error occurred. */
const quoted: ReadonlySet<ErrorCode> = new Set(['bad_request', 'unsupported_option', 'forbidden', 'unreadable', 'unreachable_cluster', 'unavailable', 'internal']);

type Details = Parameters<ServerWords['error']>[0]['details'];

const statusWord = (status = '') => (common.status as Record<string, string>)[status] ?? status;

const errors: Record<ErrorCode, (details: Details, moment: (time: string) => string) => string> = {
  unreachable: () => common.problem.unreachableBody,
  bad_request: ({ field }) => (field ? `字段 ${field} 的值不被接受。` : '服务器不接受此请求。'),
  unknown_field: ({ field }) => `没有名为 ${field ?? '?'} 的字段或选项。`,
  unsupported_option: ({ field }) => `此操作或已安装的 Helm 不支持选项 ${field ?? '?'}，或者它不能与另一选项同时使用。`,
  token_expires: ({ expires, deadline }, moment) =>
    expires && deadline
      ? `您的令牌将于${moment(expires)}过期，早于操作的期限${moment(deadline)}。请重新登录，或缩短期限。`
      : '您的令牌会在操作的期限之前过期。请重新登录，或缩短期限。',
  unauthenticated: ({ cluster }) => (cluster ? `请登录集群 ${cluster}：令牌缺失、有误或已过期。` : '请先登录：令牌缺失、有误或已过期。'),
  forbidden: ({ verb, resource, group, namespace }) =>
    verb && resource
      ? `缺少权限：在${namespace ? `名称空间 ${namespace} 中` : '所有名称空间中'}对 ${group ? `${resource}.${group}` : resource} 执行 ${verb}。`
      : '您无权这样做。',
  not_found: ({ history }) => (history ? '该 Release 曾经存在，现已不在集群中。' : '该集群、名称空间、Release、Revision、操作或 Chart 不存在。'),
  no_active_session: () => '该 Release 没有正在进行的操作，操作可能已完成。',
  method_not_allowed: () => '该地址不支持这种请求方法。',
  gone: () => '该 Revision 曾经存在，但其记录已不可用。',
  operation_in_progress: () => '该 Release 上的另一项操作正在进行。请查看该操作，或等待其结束。',
  pending: ({ revision, status }) => `Revision ${revision ?? '?'} 的状态是“${statusWord(status)}”，可能有操作正在进行。如要继续，请明确选择。`,
  changed: () => '该 Release 在您查看之后发生了变化。请重新查看后再决定。',
  not_stuck: () => '该 Release 没有未结束的操作，无需恢复。',
  session_ended: () => '该操作已经结束。',
  too_large: () => '请求的内容过大。',
  unreadable: () => '该 Revision 存在，但无法读取或比较其记录。',
  too_many_requests: () => '同时发出的请求过多。请稍后再试。',
  too_many_operations: ({ quota, limit }) =>
    quota && limit ? `同时进行的操作已达${quotas[quota]}的上限（${limit} 项）。请等待其中一项结束，或取消一项。` : '同时进行的操作已达上限。请等待其中一项结束。',
  unreachable_cluster: () => 'helmtrail 无法连接该集群。',
  unavailable: () => '服务器暂时无法处理此请求：它正在启动或停止、缺少 Helm、无法获取 Chart，或者其磁盘无法写入。',
  busy: () => '服务器正忙于处理其他大型 Release。请几秒后重试。',
  internal: () => '服务器出现内部错误。原因见服务器日志。',
};

const quotas: Record<NonNullable<Details['quota']>, string> = { server: '服务器', namespace: '该名称空间', user: '您' };

/** The parts of a sentence, and the number of objects that it applies to. */
type Counted = Sentence & Pick<Cause, 'count'>;

/** Returns null for a cause without parts, which an earlier version stored, and for an unknown problem. */
const sentence = (parts: Counted) => (parts.problem && Object.hasOwn(causes, parts.problem) ? causes[parts.problem](parts) : null);

const subject = ({ object: { kind, name }, count }: Counted) => `${kind} ${name}${count && count > 1 ? ` 等 ${count} 个 ${kind}` : ''}`;

const roles: Record<NonNullable<Sentence['role']>, string> = { main: '容器', init: '初始化容器', sidecar: 'Sidecar 容器' };

/** The container or, without one, the object. */
const part = (parts: Counted) => (parts.container ? `${subject(parts)} 的${roles[parts.role ?? 'main']} ${parts.container}` : subject(parts));

const reason = ({ reason }: Sentence) => (reason && reason !== 'NotReady' ? `（${reason}）` : '');

/** Kubernetes' own message. */
const detail = ({ detail }: Sentence) => (detail ? `：${detail}` : '');

const exit = ({ exit }: Sentence) => (exit ? `，退出码 ${exit}` : '');

const causes: Record<NonNullable<Sentence['problem']>, (parts: Counted) => string> = {
  imageNotPulled: (c) => `${part(c)} 无法拉取镜像 ${c.image ?? ''}${detail(c)}`,
  imageUnusable: (c) => `${part(c)} 无法使用镜像 ${c.image ?? ''}${reason(c)}${detail(c)}`,
  notStarted: (c) => `${part(c)} 无法启动${reason(c)}${detail(c)}`,
  crashing: (c) => `${part(c)} ${c.exit?.startsWith('0 ') ? '不断结束' : '不断崩溃'}${exit(c)}${detail(c)}`,
  exited: (c) => `${part(c)} 已失败${exit(c)}${detail(c)}`,
  probeFailing: (c) => `${part(c)} 正在运行，但未就绪${detail(c)}`,
  notScheduled: (c) => `${subject(c)} 无法调度${detail(c)}`,
  schedulingGated: (c) => `${subject(c)} 暂不调度${detail(c)}`,
  podsNotCreated: (c) => `${subject(c)} 无法创建其 Pod${detail(c)}`,
  notBound: (c) => `${subject(c)} 尚未绑定${detail(c)}`,
  noProgress: (c) => `${subject(c)} 已停止推进${detail(c)}`,
  failed: (c) => `${subject(c)} 已失败${reason(c)}${detail(c)}`,
  noAddress: (c) => `负载均衡器尚未给 ${subject(c)} 分配地址`,
  notEnded: (c) => `${part(c)} 尚未结束`,
  deleting: (c) => `${subject(c)} 正在被删除${c.detail ? `，等待其 finalizer${detail(c)}` : ''}`,
  notReady: (c) => `${subject(c)} 未就绪${reason(c)}${detail(c)}`,
  warning: (c) => `${subject(c)} 可用，但报告了问题${reason(c)}${detail(c)}`,
  helmCannotJudge: (c) => `helm --wait 无法在 ${subject(c)} 上成功，因为 Helm 无法读取其状态${detail(c)}`,
  unknown: (c) => `无法得知 ${subject(c)} 的状态${detail(c)}`,
};

/** The reasons of rows that are helmtrail's own words. */
const ownReasons: Record<string, string | undefined> = {
  NoStatus: '其控制器尚未报告状态',
  OnDelete: '部分副本属于旧 Revision：旧 Pod 仅在被删除后才会更新',
  Partition: '部分副本属于旧 Revision：旧 Pod 仅在调低 partition 后才会更新',
  RemovedByTTL: '它已完成，并在 ttlSecondsAfterFinished 之后被移除',
  OutcomeUnknown: '它不存在，可能已完成、失败或从未运行，因为 ttlSecondsAfterFinished 会将其移除',
};

const statuses: Record<string, string | undefined> = {
  Ready: '就绪',
  Progressing: '进行中',
  Completed: '已完成',
  Failed: '失败',
  Warning: '警告',
  Terminating: '正在终止',
  NotFound: '不存在',
  Forbidden: '无权查看',
  Unknown: '未知',
};

const anomalies: Record<Parameters<ServerWords['anomaly']>[0], string> = {
  unreadable: '无法读取该记录',
  label_status: 'Secret 的标签与记录的状态不同；Helm 以记录为准',
  name: '记录属于另一个 Release',
  namespace: '记录属于另一个名称空间',
  revision: '记录属于另一个 Revision',
  also_deployed: '更新的 Revision 也处于已部署状态，以该 Revision 为准',
  duplicate: '另一个 Secret 也保存着此 Revision',
  gap: '在此之前有 Revision 不在集群中',
};

type Notes = Record<NoteCode, (detail: string, object?: Parameters<ServerWords['note']>[1]) => string>;

const notes: Notes = {
  deleting: () => '该对象正在被删除',
  kept: () => '因其注解 helm.sh/resource-policy，Helm 会保留该对象',
  recreated: () => 'Helm 会删除现有对象并重新创建',
  applyRefused: (detail) => `API 服务器拒绝应用该对象：${detail}`,
  tooMany: () => '对象过多，无法全部检查',
  timeout: () => '未能及时检查该对象',
  unreadable: () => '无法读取 Manifest 的这一部分',
  generatedName: () => '该对象的名称由 API 服务器生成',
  unknownKind: (_, object) => `集群中没有该类型${object ? `：${object.apiVersion} ${object.kind}` : ''}`,
  kindOfChart: (detail, object) => `集群中还没有该类型${object ? `：${object.apiVersion} ${object.kind}` : ''}。它由同一 Chart 的 ${detail} 定义，安装之后才能检查`,
  removedByTTL: () => '它已结束，并在 ttlSecondsAfterFinished 之后被移除',
  outcomeUnknown: () => '它不存在，可能已因 ttlSecondsAfterFinished 被移除，但未观察到其结果',
  missingNamespace: (detail) => `名称空间 ${detail} 尚不存在，因此 API 服务器只能检查其中对象的格式，无法检查是否准入。`,
};

const retries: Record<RetryCode, string> = {
  conflict: '冲突：期间有其他写入者更改了对象',
  quota: '冲突：资源配额同时被更新',
  leader: 'etcd 选出了新的 leader',
  lost: '与 API 服务器的连接中断',
  refused: 'API 服务器拒绝了连接',
};
