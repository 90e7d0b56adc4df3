# What comes before a user land's script: $ROOT is a copy of $LOWER whose changes are forgotten.
export SPACE=$(mktemp -d)
mount -t tmpfs tmpfs "$SPACE"
trap 'umount --lazy "$SPACE"; rmdir "$SPACE"' EXIT
mkdir "$SPACE/upper" "$SPACE/work" "$SPACE/root"
mount -t overlay -o "lowerdir=$LOWER,upperdir=$SPACE/upper,workdir=$SPACE/work" overlay "$SPACE/root"
ROOT=$SPACE/root
chroot=$(command -v chroot)

proc() { mkdir -p "$ROOT/proc" && mount -t proc proc "$ROOT/proc"; }
usual() {
  proc
  mkdir -p "$ROOT/sys" "$ROOT/dev" "$ROOT/tmp" && chmod 1777 "$ROOT/tmp"
  mount --rbind /sys "$ROOT/sys"
  mount --rbind /dev "$ROOT/dev"
}
step() {
  name=$1 code=0
  shift
  syscost "$@" >"$PRINTED/$name.out" 2>"$PRINTED/$name.err" || code=$?
  echo "$code" >"$PRINTED/$name.code"
}
